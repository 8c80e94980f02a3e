"""The opened device: buffers are TVM's tensors in host memory, shared with NumPy's where the alignment allows it."""

from __future__ import annotations

from typing import Any

import numpy as np
from lazycore_plugin_api import Buffer, DType, HostArray, Session, TensorSpec

from lazycore_tvm.host_calls import as_array
from lazycore_tvm.scalars import storage_type
from lazycore_tvm.tvm_runtime import tvm

__all__ = ["TvmBuffer", "TvmSession", "to_tensor"]

# Generated code takes it for granted of every tensor.
_ALIGNMENT = 64


class TvmBuffer(Buffer):
    """A flat TVM tensor and what it is; without one where there are no elements."""

    __slots__ = ("spec", "tensor")

    def __init__(self, tensor: Any, spec: TensorSpec) -> None:
        self.tensor = tensor
        self.spec = spec

    def to_host(self) -> HostArray:
        """The content, in the tensor's own memory."""
        if self.tensor is None:
            return np.empty(self.spec.static_shape, self.spec.dtype.numpy)
        return as_array(self.tensor, self.spec)


class TvmSession(Session):
    """Host memory."""

    def upload(self, array: HostArray) -> TvmBuffer:
        """Without copying where the array is dense, writeable and aligned to 64 bytes."""
        spec = TensorSpec(tuple(array.shape), DType.of(array.dtype))
        return TvmBuffer(to_tensor(array, spec.dtype, share=True) if array.size else None, spec)

    def copy(self, buffer: Buffer) -> TvmBuffer:
        array = buffer.to_host()
        return TvmBuffer(to_tensor(array, buffer.spec.dtype, share=False) if array.size else None, buffer.spec)


def to_tensor(array: HostArray, dtype: DType, share: bool) -> Any:
    """An array's elements as a flat tensor, with the memory shared where that is asked for and possible."""
    flat = np.ascontiguousarray(array).reshape(-1).view(storage_type(dtype))
    if share and flat.flags.writeable and flat.ctypes.data % _ALIGNMENT == 0:
        return tvm.runtime.from_dlpack(flat)
    return tvm.runtime.tensor(flat)
