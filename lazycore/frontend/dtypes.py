"""torch's dtypes and the IR's, and CPU tensors as NumPy arrays of the IR's dtypes."""

from __future__ import annotations

import numpy as np
import torch
from lazycore_plugin_api import DType, HostArray

__all__ = ["TO_IR", "TO_TORCH", "array_of", "tensor_of"]

TO_TORCH: dict[DType, torch.dtype] = {d: getattr(torch, d.value) for d in DType}
TO_IR: dict[torch.dtype, DType] = {t: d for d, t in TO_TORCH.items()}

# torch hands these to NumPy only as raw bits.
_BITS = {
    DType.bfloat16: (torch.int16, np.int16),
    DType.float8_e4m3fn: (torch.int8, np.int8),
    DType.float8_e5m2: (torch.int8, np.int8),
}


def array_of(tensor: torch.Tensor) -> HostArray:
    """A row-major NumPy copy of a CPU tensor, conjugation and negation resolved."""
    plain = tensor.detach().resolve_conj().resolve_neg()
    plain = torch.empty(plain.shape, dtype=plain.dtype, device="cpu").copy_(plain)
    dtype = TO_IR.get(plain.dtype)
    if dtype is None:
        raise NotImplementedError(f"lazycore has no {plain.dtype} tensors; convert to another dtype on the CPU first")
    bits = _BITS.get(dtype)
    return plain.numpy() if bits is None else plain.view(bits[0]).numpy().view(dtype.numpy)


def tensor_of(array: HostArray) -> torch.Tensor:
    """A CPU tensor with a copy of the array's content: it is the user's, and must not see later writes."""
    dtype = DType.of(array.dtype)
    copy = np.array(array, copy=True, order="C").reshape(array.shape)
    bits = _BITS.get(dtype)
    if bits is None:
        return torch.from_numpy(copy)
    return torch.from_numpy(copy.view(bits[1])).view(TO_TORCH[dtype])
