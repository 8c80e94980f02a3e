"""A value's ways between host and backends."""

from __future__ import annotations

import numpy as np
import pytest
from lazycore_plugin_api import BackendError, DType, HostBuffer, LazycoreError, TensorSpec
from plan_fakes.backends import FakeBuffer, FakeSession

from lazycore.runtime.buffers import DeviceValue


def _value() -> DeviceValue:
    return DeviceValue.from_host(np.array([3.0, 1.0, 2.0]))


def test_a_host_array_is_not_copied() -> None:
    array = np.array([1.0, 2.0])
    value = DeviceValue.from_host(array)
    assert value.to_host() is array
    assert value.spec == TensorSpec((2,), DType.float64)


@pytest.mark.parametrize("shape", [(), (0,), (2, 3)])
def test_any_rank_keeps_its_shape(shape: tuple[int, ...]) -> None:
    value = DeviceValue.from_host(np.zeros(shape, np.int32))
    assert value.on(FakeSession()).spec == TensorSpec(shape, DType.int32)


def test_a_strided_array_becomes_dense() -> None:
    value = DeviceValue.from_host(np.arange(6.0).reshape(2, 3).T)
    assert value.to_host().flags.c_contiguous
    np.testing.assert_array_equal(value.to_host(), np.arange(6.0).reshape(2, 3).T)


def test_an_upload_happens_once_per_session() -> None:
    session, value = FakeSession(), _value()
    assert value.on(session) is value.on(session)
    assert session.uploads == 1


def test_the_host_array_goes_with_the_upload() -> None:
    value = _value()
    value.on(FakeSession())
    assert value.host is None
    np.testing.assert_array_equal(value.to_host(), [3, 1, 2])


def test_what_another_session_gets_is_a_copy() -> None:
    one, two, value = FakeSession(), FakeSession(), _value()
    first, second = value.on(one), value.on(two)
    assert isinstance(first, FakeBuffer)
    assert isinstance(second, FakeBuffer)
    assert not np.shares_memory(first.array, second.array)
    assert value.on(one) is first


def test_a_witness_has_the_content_and_is_no_owner() -> None:
    session, value = FakeSession(), _value()
    buffer = value.on(session)
    witness = value.witness()
    assert witness.on(session) is buffer
    value.forget()
    assert value.deleted
    assert not witness.deleted
    np.testing.assert_array_equal(witness.to_host(), [3, 1, 2])


def test_a_witness_of_what_was_donated_is_deleted_once_the_buffer_says_so() -> None:
    class Donated(HostBuffer):
        deleted = True  # type: ignore[assignment]

    value = DeviceValue(TensorSpec((1,), DType.float32), {FakeSession(): Donated(np.zeros(1, np.float32))})
    assert value.witness().deleted


def test_int_range() -> None:
    assert DeviceValue.from_host(np.array([5, -2, 3])).int_range() == (-2, 5)
    assert DeviceValue.from_host(np.array(7)).int_range() == (7, 7)
    assert DeviceValue.from_host(np.array([], np.int64)).int_range() is None


def test_int_range_without_what_is_ignored() -> None:
    value = DeviceValue.from_host(np.array([5, -100, 3]))
    assert [value.int_range(-100), value.int_range(), value.int_range(-100)] == [(3, 5), (-100, 5), (3, 5)]
    assert DeviceValue.from_host(np.array([-100, -100])).int_range(-100) is None


def test_int_range_is_worked_out_once() -> None:
    array = np.array([5, -2, 3])
    value = DeviceValue.from_host(array)
    value.int_range()
    value.forget()
    assert value.int_range() == (-2, 5)


def test_a_donated_value_says_so() -> None:
    value = _value()
    assert not value.deleted
    value.forget()
    assert value.deleted
    with pytest.raises(LazycoreError, match="after its buffer was donated"):
        value.to_host()
    with pytest.raises(LazycoreError, match="after its buffer was donated"):
        value.on(FakeSession())


class Late(HostBuffer):
    """A buffer whose computation failed after the launch."""

    def to_host(self) -> np.ndarray:
        raise OverflowError("on the device")

    def wait(self) -> None:
        raise OverflowError("on the device")


def test_a_late_failure_names_where_the_value_comes_from() -> None:
    session = FakeSession()
    spec = TensorSpec((3,), DType.float64)
    value = DeviceValue(spec, {session: Late(np.zeros(3))}, None, "xla's segment0 (aten.mm.default) from train.py:3")
    for observe in (value.to_host, value.wait):
        with pytest.raises(BackendError, match=r"xla's segment0 .*train\.py:3 failed: OverflowError: on the device"):
            observe()


def test_waiting_for_what_is_there() -> None:
    value = _value()
    value.on(FakeSession())
    value.wait()
