"""Tensors to NumPy arrays and back, bfloat16 and the 8-bit floats included (torch gives NumPy no view of those)."""

from __future__ import annotations

import numpy as np
import torch
from lazycore_plugin_api import DType, HostArray, TensorSpec

_BITS = {1: torch.uint8, 2: torch.int16}
_EXOTIC = {torch.bfloat16, torch.float8_e4m3fn, torch.float8_e5m2}


def dtype_of(dtype: torch.dtype) -> DType:
    """The IR's name of a torch dtype."""
    return DType(str(dtype).removeprefix("torch."))


def spec_of(tensor: torch.Tensor) -> TensorSpec:
    """Shape and dtype of a tensor."""
    return TensorSpec(tuple(tensor.shape), dtype_of(tensor.dtype))


def to_array(tensor: torch.Tensor) -> HostArray:
    """A dense row-major copy of the tensor as an array of the same dtype."""
    dense = tensor.detach().resolve_conj().resolve_neg().clone(memory_format=torch.contiguous_format)
    if tensor.dtype in _EXOTIC:
        bits = dense.view(_BITS[tensor.dtype.itemsize]).numpy()
        return bits.view(dtype_of(tensor.dtype).numpy)
    return dense.numpy()


def to_tensor(array: HostArray) -> torch.Tensor:
    """A copy of the array as a CPU tensor of the same dtype."""
    dtype = getattr(torch, DType.of(array.dtype).value)
    dense = np.array(array, copy=True, order="C")
    if dtype in _EXOTIC:
        return torch.from_numpy(dense.view({1: np.uint8, 2: np.int16}[dense.itemsize])).view(dtype)
    return torch.from_numpy(dense)
