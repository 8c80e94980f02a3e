"""Element types of the IR: our own enumeration, so that a backend needs neither torch nor its names."""

from __future__ import annotations

from enum import Enum
from typing import Any

import ml_dtypes
import numpy as np

__all__ = ["DType"]

_NUMPY: dict[str, Any] = {
    "bfloat16": ml_dtypes.bfloat16,
    "float8_e4m3fn": ml_dtypes.float8_e4m3fn,
    "float8_e5m2": ml_dtypes.float8_e5m2,
    "complex32": ml_dtypes.complex32,
    "bool": np.bool_,
}
_SHORT = {"bool": "b1", "bfloat16": "bf16", "float8_e4m3fn": "f8e4m3fn", "float8_e5m2": "f8e5m2"}


class DType(Enum):
    """An element type. The value is its torch and NumPy name; ``DType("float32")`` finds one by name."""

    float64 = "float64"
    float32 = "float32"
    float16 = "float16"
    bfloat16 = "bfloat16"
    float8_e4m3fn = "float8_e4m3fn"
    float8_e5m2 = "float8_e5m2"
    int64 = "int64"
    int32 = "int32"
    int16 = "int16"
    int8 = "int8"
    uint8 = "uint8"
    uint16 = "uint16"
    uint32 = "uint32"
    uint64 = "uint64"
    bool = "bool"
    complex32 = "complex32"
    complex64 = "complex64"
    complex128 = "complex128"

    numpy: np.dtype[Any]
    short: str

    def __init__(self, name: str) -> None:
        self.numpy = np.dtype(_NUMPY.get(name, name))
        bits = name.lstrip("abcdefghijklmnopqrstuvwxyz")
        letter = "u" if name.startswith("u") else name[0]
        self.short = _SHORT.get(name, letter + bits)

    @property
    def itemsize(self) -> int:
        """Bytes an element takes."""
        return self.numpy.itemsize

    @property
    def is_floating(self) -> Any:
        """True for real floating types, the 8-bit ones included."""
        return self.value.startswith(("float", "bfloat"))

    @property
    def is_complex(self) -> Any:
        """True for complex32, complex64 and complex128."""
        return self.value.startswith("complex")

    @property
    def is_integral(self) -> Any:
        """True for signed and unsigned integers; bool is not one."""
        return self.value.startswith(("int", "uint"))

    @classmethod
    def of(cls, dtype: Any) -> DType:
        """The DType of a NumPy dtype (ml_dtypes' included). Raises KeyError for one that has no counterpart."""
        return _BY_NUMPY[np.dtype(dtype)]

    def __repr__(self) -> str:
        return f"DType.{self.name}"


_BY_NUMPY = {d.numpy: d for d in DType}
