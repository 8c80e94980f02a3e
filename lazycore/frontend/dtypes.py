"""torch's dtypes and the IR's, and CPU tensors as NumPy arrays of the IR's dtypes."""

from __future__ import annotations

import numpy as np
import torch
from lazycore_plugin_api import DType, HostArray

__all__ = ["TO_IR", "TO_TORCH", "array_of", "dtype_name", "tensor_of"]

TO_TORCH: dict[DType, torch.dtype] = {d: getattr(torch, d.value) for d in DType}


class _ToIR(dict[torch.dtype, DType]):
    """torch's dtype -> the IR's."""

    def __missing__(self, dtype: torch.dtype) -> DType:
        raise NotImplementedError(f"lazycore has no {dtype} tensors; convert to another dtype on the CPU first")


TO_IR: dict[torch.dtype, DType] = _ToIR({t: d for d, t in TO_TORCH.items()})

# torch hands these to NumPy only as raw bits.
_BITS = {
    DType.bfloat16: (torch.int16, np.int16),
    DType.float8_e4m3fn: (torch.int8, np.int8),
    DType.float8_e5m2: (torch.int8, np.int8),
    DType.complex32: (torch.int32, np.int32),
}

# As torch's C++ messages call them.
_NAMES = {
    torch.float32: "Float", torch.float64: "Double", torch.float16: "Half", torch.bfloat16: "BFloat16",
    torch.int64: "Long", torch.int32: "Int", torch.int16: "Short", torch.int8: "Char", torch.uint8: "Byte",
    torch.bool: "Bool", torch.complex32: "ComplexHalf", torch.complex64: "ComplexFloat",
    torch.complex128: "ComplexDouble",
}  # fmt: skip


def dtype_name(dtype: torch.dtype) -> str:
    """A dtype as torch's error messages spell it."""
    return _NAMES.get(dtype, str(dtype).removeprefix("torch."))


def array_of(tensor: torch.Tensor) -> HostArray:
    """A row-major NumPy copy of a CPU tensor, conjugation and negation resolved. Raises RuntimeError above 64
    dimensions, which NumPy does not have and torch's own reductions refuse in these words."""
    if tensor.dim() > 64:
        raise RuntimeError("only tensors with up to 64 dims are supported")
    plain = tensor.detach().resolve_conj().resolve_neg()
    plain = torch.empty(plain.shape, dtype=plain.dtype, device="cpu").copy_(plain)
    dtype = TO_IR[plain.dtype]
    bits = _BITS.get(dtype)
    return plain.numpy() if bits is None else plain.view(bits[0]).numpy().view(dtype.numpy)


def tensor_of(array: HostArray) -> torch.Tensor:
    """A CPU tensor with a copy of the array's content: it is the user's, and must not see later writes."""
    dtype = DType.of(array.dtype)
    if not array.size:  # NumPy gives what is empty strides of 0, with which torch makes no views
        return torch.empty(array.shape, dtype=TO_TORCH[dtype], device="cpu")
    copy = np.array(array, copy=True, order="C").reshape(array.shape)
    bits = _BITS.get(dtype)
    if bits is None:
        return torch.from_numpy(copy)
    return torch.from_numpy(copy.view(bits[1])).view(TO_TORCH[dtype])
