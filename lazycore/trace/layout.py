"""How a storage's elements lie in memory."""

from __future__ import annotations

from math import prod
from typing import Any
from weakref import WeakValueDictionary

from lazycore_plugin_api import DType, TensorSpec

__all__ = ["Layout", "contiguous_stride", "is_dense", "layout_of"]


class Layout:
    """Size, stride and dtype of a storage's base tensor, which is dense and non-overlapping but may be permuted.

    Layouts are interned by ``layout_of``, so that keys compare them by identity. ``native`` is the frontend's own
    name of the dtype, ``views`` its cache of facts about views of such a base; both are opaque here.
    """

    __slots__ = ("__weakref__", "contiguous", "dtype", "native", "nbytes", "numel", "size", "stride", "views")

    def __init__(self, size: tuple[int, ...], stride: tuple[int, ...], dtype: DType, native: Any) -> None:
        self.size = size
        self.stride = stride
        self.dtype = dtype
        self.native = native
        self.numel = prod(size)
        self.nbytes = self.numel * dtype.itemsize
        self.contiguous = stride == contiguous_stride(size)
        self.views: dict[Any, Any] = {}

    @property
    def spec(self) -> TensorSpec:
        return TensorSpec(self.size, self.dtype)

    def __repr__(self) -> str:
        strides = "" if self.contiguous else f" stride {self.stride}"
        return f"{self.spec}{strides}"


# Weak: a program whose shapes never repeat must not fill memory with layouts; a key that names one keeps it alive.
_interned: WeakValueDictionary[Any, Layout] = WeakValueDictionary()


def layout_of(size: tuple[int, ...], stride: tuple[int, ...], dtype: DType, native: Any) -> Layout:
    """The one Layout of this size, stride and dtype."""
    key = (size, stride, native)
    found = _interned.get(key)
    if found is None:
        found = _interned.setdefault(key, Layout(size, stride, dtype, native))
    return found


def contiguous_stride(size: tuple[int, ...]) -> tuple[int, ...]:
    """Row-major strides as torch counts them: a size of 0 steps like a size of 1."""
    strides, step = [], 1
    for extent in reversed(size):
        strides.append(step)
        step *= max(extent, 1)
    return tuple(reversed(strides))


def is_dense(size: tuple[int, ...], stride: tuple[int, ...]) -> bool:
    """Whether the strides are a permutation of row-major ones: every element in one place, no gaps."""
    step = 1
    for extent, own in sorted(((e, s) for e, s in zip(size, stride, strict=True) if e != 1), key=lambda pair: pair[1]):
        if extent == 0:
            return True
        if own != step:
            return False
        step *= extent
    return True
