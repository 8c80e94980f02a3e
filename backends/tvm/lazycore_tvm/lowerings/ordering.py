"""Sorting and running sums, by NumPy: TVM's sort of 16-bit floats is wrong, and TE has no running sum in one pass."""

# Signatures are ATen's, also where an argument does not matter here.
# ruff: noqa: ARG001

from __future__ import annotations

from typing import Any

import numpy as np
from lazycore_plugin_api import DType, HostArray

from lazycore_tvm.operands import axis
from lazycore_tvm.registry import FLOATS, REAL, Kind, lowering

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


def _running(x: HostArray, dim: int, accumulate: Any) -> tuple[HostArray, HostArray]:
    """Running extremes and the last place where each stands; NaN, once met, stays."""
    along, where = _line(x), axis(dim, x.ndim)
    values = accumulate(along, axis=where)
    shape = [1] * along.ndim
    shape[where] = along.shape[where]
    places = np.arange(along.shape[where]).reshape(shape)
    here = (along == values) | ((along != along) & (values != values))
    indices = np.maximum.accumulate(np.where(here, places, 0), axis=where)
    return values.reshape(x.shape), indices.reshape(x.shape)


@lowering("cummax", **_ORDER)
def cummax(x: HostArray, dim: int) -> tuple[HostArray, HostArray]:
    """Running maxima and their places."""
    return _running(x, dim, np.maximum.accumulate)


@lowering("cummin", **_ORDER)
def cummin(x: HostArray, dim: int) -> tuple[HostArray, HostArray]:
    """Running minima and their places."""
    return _running(x, dim, np.minimum.accumulate)


@lowering("logcumsumexp", kind=Kind.host, dtypes=FLOATS)
def logcumsumexp(x: HostArray, dim: int) -> HostArray:
    """The logarithms of the running sums of exponentials, accumulated in double precision."""
    sums = np.logaddexp.accumulate(_line(x).astype(np.float64), axis=axis(dim, x.ndim))
    return np.asarray(sums).reshape(x.shape)


@lowering("nonzero_static", **_ORDER)
def nonzero_static(x: HostArray, *, size: int, fill_value: int = -1) -> HostArray:
    """The positions of the first ``size`` elements that are not 0, one a row, filled up with ``fill_value``."""
    found = np.argwhere(x)[:size]
    result = np.full((size, x.ndim), fill_value, np.int64)
    result[: len(found)] = found
    return result
