"""Upload, download and sharing of memory."""

from __future__ import annotations

import numpy as np
import pytest
from lazycore_plugin_api import TensorSpec
from lazycore_xla.plugin import lazycore_backend_info


def _aligned(size: int, offset: int = 0) -> np.ndarray:
    raw = np.zeros(size * 4 + 128, np.uint8)
    start = -raw.ctypes.data % 64 + offset
    return raw[start : start + size * 4].view(np.float32)


@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 0, 3), (2, 3)])
@pytest.mark.parametrize("dtype", sorted(lazycore_backend_info().dtypes, key=str))
def test_every_dtype_and_shape_comes_back_as_it_went(xla, dtype, shape):
    array = (np.arange(int(np.prod(shape))) % 3).reshape(shape).astype(dtype.numpy)
    buffer = xla.session.upload(array)
    assert buffer.spec == TensorSpec(shape, dtype)
    back = buffer.to_host()
    assert (back.shape, back.dtype, back.tobytes()) == (shape, dtype.numpy, array.tobytes())


def test_bits_survive(xla):
    bits = np.array([0x7FC00001, 0xFFC12345, 0x80000000, 0x00000001, 0x7F800000], np.uint32)
    assert xla.session.upload(bits.view(np.float32)).to_host().view(np.uint32).tolist() == bits.tolist()


def test_strided_arrays_become_dense(xla):
    array = np.arange(24, dtype=np.int64).reshape(4, 6)[::2, ::-3].T
    assert xla.session.upload(array).to_host().tolist() == array.tolist()


def test_aligned_arrays_are_shared_and_others_copied(xla):
    shared, copied = _aligned(1024), _aligned(1024, offset=4)
    assert np.shares_memory(xla.session.upload(shared).to_host(), shared)
    assert not np.shares_memory(xla.session.upload(copied).to_host(), copied)


def test_copy_is_a_buffer_of_its_own(xla):
    first = xla.session.upload(_aligned(1024))
    second = xla.session.copy(first)
    second.wait()
    assert not np.shares_memory(first.to_host(), second.to_host())
    assert (second.to_host() == 0).all()
    assert second.spec == first.spec


def test_copy_keeps_64_bits(xla):
    assert xla.session.copy(xla.session.upload(np.array([2**40]))).to_host().tolist() == [2**40]


def test_dlpack_shares_memory(xla):
    buffer = xla.session.upload(np.arange(64, dtype=np.int64))
    assert np.shares_memory(np.from_dlpack(buffer), buffer.to_host())


def test_synchronize_and_stats(xla):
    buffer = xla.session.upload(np.ones(4))
    xla.session.synchronize()
    assert not buffer.deleted
    assert all(isinstance(v, int) for v in xla.session.memory_stats().values())
