"""Sorting and running sums, by NumPy: TVM's sort of 16-bit floats is wrong, and TE has no running sum in one pass."""

# Signatures are ATen's, also where an argument does not matter here.
# ruff: noqa: ARG001

from __future__ import annotations

from typing import Any

import numpy as np
from lazycore_plugin_api import DType, HostArray

from lazycore_tvm.operands import axis
from lazycore_tvm.registry import REAL, Kind, lowering

_ORDER: dict[str, Any] = {"kind": Kind.host, "dtypes": REAL}


def _line(x: HostArray) -> HostArray:
    return x.reshape(1) if x.ndim == 0 else x


def _order(x: HostArray, dim: int, descending: bool) -> HostArray:
    """Indices that sort along a dimension, equals in their order, NaN as the largest."""
    if not descending:
        return np.argsort(x, axis=dim, kind="stable")
    backwards = np.argsort(np.flip(x, dim), axis=dim, kind="stable")
    return np.flip(x.shape[dim] - 1 - backwards, dim)


@lowering("sort.stable", **_ORDER)
def sort(x: HostArray, *, stable: bool | None = None, dim: int = -1, descending: bool = False) -> tuple[HostArray, ...]:
    """Sorted values and their indices."""
    along, where = _line(x), axis(dim, x.ndim)
    order = _order(along, where, descending)
    return np.take_along_axis(along, order, where).reshape(x.shape), order.reshape(x.shape)


@lowering("topk", **_ORDER)
def topk(x: HostArray, k: int, dim: int = -1, largest: bool = True, ordered: bool = True) -> tuple[HostArray, ...]:
    """The k largest or smallest values, sorted, and their indices."""
    along, where = _line(x), axis(dim, x.ndim)
    order = np.take(_order(along, where, largest), np.arange(k), axis=where)
    shape = order.shape if x.ndim else ()
    return np.take_along_axis(along, order, where).reshape(shape), order.reshape(shape)


def _typed(x: HostArray, dtype: DType | None) -> HostArray:
    """The operand in the dtype asked for; 16-bit floats are accumulated in float32."""
    narrow = dtype is None or (dtype.is_floating and dtype.itemsize < 4)
    return _line(x if narrow or dtype is None else x.astype(dtype.numpy))


@lowering("cumsum", **_ORDER)
def cumsum(x: HostArray, dim: int, *, dtype: DType | None) -> HostArray:
    """Running sums along a dimension; of integers and booleans, int64."""
    return np.cumsum(_typed(x, dtype), axis=axis(dim, x.ndim)).reshape(x.shape)


@lowering("cumprod", **_ORDER)
def cumprod(x: HostArray, dim: int, *, dtype: DType | None) -> HostArray:
    """Running products along a dimension; of integers and booleans, int64."""
    return np.cumprod(_typed(x, dtype), axis=axis(dim, x.ndim)).reshape(x.shape)
