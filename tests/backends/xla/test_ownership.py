"""Outputs are buffers of their own, and donation takes memory from nobody who still looks at it."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from lazycore_plugin_api import BackendError, Value

SIZE = 4096


@pytest.fixture
def arrays():
    return [np.full(SIZE, 1.0, np.float32), np.full(SIZE, 2.0, np.float32)]


def _address(buffer) -> int:
    return buffer.to_host().__array_interface__["data"][0]


def test_inputs_and_equal_outputs_are_copied(xla, segment, node, arrays):
    def compose(values: list[Value]):
        copy = node("aten.clone.default", values[0], to=2)
        total = node("aten.add.Tensor", values[0], values[1], alpha=1, to=3)
        view = node("aten.view.default", total.outputs[0], (SIZE,), to=4)
        outputs = [values[0], values[0], *copy.outputs, *total.outputs, *total.outputs, *view.outputs]
        return [copy, total, view], outputs

    inputs = [xla.session.upload(a) for a in arrays]
    outputs = xla.compile(segment(arrays, compose)).run(inputs)
    addresses = [_address(b) for b in (*inputs, *outputs)]
    assert len(set(addresses)) == len(addresses)
    assert [b.to_host()[0] for b in outputs] == [1.0, 1.0, 1.0, 3.0, 3.0, 3.0]


def test_a_segment_without_nodes_copies(xla, segment, arrays):
    inputs = [xla.session.upload(a) for a in arrays]
    outputs = xla.compile(segment(arrays, lambda v: ([], [v[1], v[0]]))).run(inputs)
    assert [b.to_host()[0] for b in outputs] == [2.0, 1.0]
    assert not any(np.shares_memory(a.to_host(), b.to_host()) for a in inputs for b in outputs)
    assert not any(np.shares_memory(a.to_host(), b.to_host()) for a, b in combinations(outputs, 2))


@pytest.fixture
def update(xla, segment, node, arrays):
    """A compiled in-place x + y that may overwrite x, with x computed by XLA, as between two steps of a program."""

    def compose(values):
        total = node("aten.add.Tensor", *values, alpha=1, to=2)
        return [total], total.outputs

    executable = xla.compile(segment(arrays, compose, donatable=frozenset({0})))
    fresh = xla.compile(segment(arrays, compose)).run([xla.session.upload(a) for a in arrays])[0]
    return executable, fresh, xla.session.upload(arrays[1])


def test_donated_memory_is_reused(update):
    executable, x, y = update
    x.wait()
    address = x.array.unsafe_buffer_pointer()
    (result,) = executable.run([x, y])
    result.wait()
    assert x.deleted
    assert not y.deleted
    assert result.array.unsafe_buffer_pointer() == address
    assert result.to_host()[0] == 5.0


def test_a_host_view_outlives_donation(update):
    executable, x, y = update
    view = x.to_host()
    (result,) = executable.run([x, y])
    assert result.to_host()[0] == 5.0
    assert (view == 3.0).all()


def test_an_uploaded_array_outlives_donation(xla, update, arrays):
    executable, _, y = update
    (result,) = executable.run([xla.session.upload(arrays[0]), y])
    assert result.to_host()[0] == 3.0
    assert (arrays[0] == 1.0).all()


def test_a_donated_buffer_cannot_be_used_again(update):
    executable, x, y = update
    executable.run([x, y])
    with pytest.raises((BackendError, ValueError, RuntimeError), match="deleted or donated"):
        executable.run([x, y])


@pytest.mark.filterwarnings("error")
def test_a_donatable_input_that_fits_no_output_is_left_alone(xla, segment, node, arrays):
    built = segment(arrays, lambda v: ([n := node("aten.view.default", v[0], (SIZE // 2, 2), to=2,
                    spec=_halved(v[0]))], n.outputs), donatable=frozenset({0, 1}))  # fmt: skip
    inputs = [xla.session.upload(a) for a in arrays]
    xla.compile(built).run(inputs)[0].wait()
    assert [b.deleted for b in inputs] == [False, False]


def _halved(value: Value):
    return type(value.spec)((SIZE // 2, 2), value.spec.dtype)


def test_what_is_read_for_the_last_time_before_it_is_overwritten_is_not_copied(xla, segment, node):
    rng = np.random.default_rng(0)
    weight, x, gradient = (rng.standard_normal((64, 64), np.float32) for _ in range(3))

    def compose(values: list[Value]):
        w, x, g = values
        passed = node("aten.mm.default", g, w, to=3)
        change = node("aten.mm.default", g, x, to=4)
        new = node("aten.sub.Tensor", w, change.outputs[0], alpha=1, to=5)
        return [passed, change, new], [*new.outputs, *passed.outputs]

    executable = xla.compile(segment([weight, x, gradient], compose, donatable=frozenset({0})))
    assert " copy(" not in executable._compiled.as_text()
    new, passed = executable.run([xla.session.upload(a) for a in (weight.copy(), x, gradient)])
    np.testing.assert_allclose(passed.to_host(), gradient @ weight, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(new.to_host(), weight - gradient @ x, rtol=1e-4, atol=1e-4)
