"""Combining values that meet at an index, by NumPy; and the gradients of reads that may overlap."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from lazycore_plugin_api import HostArray

from lazycore_tvm.lowerings.host_numbers import number
from lazycore_tvm.lowerings.scatter import lead, line, part, places_of
from lazycore_tvm.operands import axis
from lazycore_tvm.registry import ANY, REAL, Kind, lowering

__all__: list[str] = []

_COMBINED: dict[str, Any] = {"kind": Kind.host, "dtypes": REAL}
_MOVED: dict[str, Any] = {"kind": Kind.host, "dtypes": ANY, "raw": True}
_COMBINE: dict[str, Any] = {
    "sum": np.add, "mean": np.add, "add": np.add, "prod": np.multiply, "multiply": np.multiply,
    "amax": np.maximum, "amin": np.minimum,
}  # fmt: skip


def _neutral(how: str, dtype: np.dtype[Any]) -> Any:
    """The value that leaves any other unchanged."""
    if how in ("sum", "mean", "prod"):
        return int(how == "prod")
    if dtype.kind == "b":
        return how == "amin"
    limits: Any = np.iinfo(dtype) if dtype.kind in "iu" else None
    low, high = (limits.min, limits.max) if limits else (-np.inf, np.inf)
    return low if how == "amax" else high


def _averaged(sums: HostArray, counts: HostArray) -> HostArray:
    divisor = np.maximum(counts, 1).astype(sums.dtype)
    return np.asarray(np.floor_divide(sums, divisor) if sums.dtype.kind in "iu" else sums / divisor)


def _into(result: HostArray, where: Any, values: HostArray, how: str, include_self: bool) -> HostArray:
    """The values combined into what the index names of a copy; without ``include_self``, with themselves alone."""
    if not include_self:
        result[where] = _neutral(how, result.dtype)
    _COMBINE[how].at(result, where, values)
    if how != "mean":
        return result
    counts = np.full(result.shape, int(include_self))
    np.add.at(counts, where, 1)
    return _averaged(result, counts)


@lowering("scatter_reduce.two", **_COMBINED)
def scatter_reduce(
    x: HostArray, dim: int, index: HostArray, source: HostArray, how: str, *, include_self: bool = True
) -> HostArray:
    """x combined with the source's elements at the index."""
    if not index.size:
        return x
    where = places_of(line(index), dim)
    return _into(line(x).copy(), where, part(source, index), how, include_self).reshape(x.shape)


@lowering("scatter.reduce", "scatter.value_reduce", **_COMBINED)
def scatter_with(x: HostArray, dim: int, index: HostArray, source: Any, *, reduce: str) -> HostArray:
    """x with the source's elements, or a number, added or multiplied at the index."""
    if not index.size:
        return x
    values = part(source, index) if isinstance(source, np.ndarray) and source.ndim >= index.ndim else number(source, x)
    return _into(line(x).copy(), places_of(line(index), dim), values, reduce, True).reshape(x.shape)


@lowering("index_reduce", **_COMBINED)
def index_reduce(
    x: HostArray, dim: int, index: HostArray, source: HostArray, how: str, *, include_self: bool = True
) -> HostArray:
    """x combined with the source's slices at the index."""
    result = line(x).copy()
    where = axis(dim, x.ndim)
    moved = _into(np.moveaxis(result, where, 0), line(index), lead(source, dim), how, include_self)
    return np.moveaxis(moved, 0, where).reshape(x.shape)


@lowering("diagonal_backward", **_MOVED)
def diagonal_backward(grad: HostArray, sizes: Sequence[int], offset: int, first: int, second: int) -> HostArray:
    """Zeros with the gradient on a diagonal."""
    result = np.zeros(sizes, grad.dtype)
    matrices = np.moveaxis(result, (first, second), (-2, -1))
    steps = np.arange(grad.shape[-1])
    matrices[..., steps + max(-offset, 0), steps + max(offset, 0)] = grad
    return result


@lowering("unfold_backward", **_COMBINED)
def unfold_backward(grad: HostArray, sizes: Sequence[int], dim: int, size: int, step: int) -> HostArray:
    """The windows' gradients, whose last dimension runs inside a window, added up where they overlap."""
    result = np.zeros(tuple(sizes) or (1,), grad.dtype)
    grad = grad if sizes else grad.reshape(1, size)
    where = axis(dim, len(sizes))
    along = np.moveaxis(result, where, 0)
    for offset in range(size):
        reach = (grad.shape[where] - 1) * step + 1
        along[offset : offset + reach : step] += np.moveaxis(grad[..., offset], where, 0)
    return result.reshape(sizes)
