"""Sorting and selection. NaN is larger than every number; equal elements keep their order."""

# Signatures are ATen's, also where an argument does not matter here.
# ruff: noqa: ARG001
# To mypy, arithmetic on arrays of any dtype is Any.
# mypy: disable-error-code="no-any-return"

from __future__ import annotations

import numpy as np

from lazycore_reference.axes import axis, line
from lazycore_reference.registry import Array, lowering


def _order(x: Array, dim: int, descending: bool) -> Array:
    """Indices that sort a dimension, stable in either direction."""
    if not descending:
        return np.argsort(x, axis=dim, kind="stable")
    backwards = np.argsort(np.flip(x, dim), axis=dim, kind="stable")
    return x.shape[dim] - 1 - np.flip(backwards, dim)


@lowering("aten.sort.stable")
def sort(x: Array, *, stable: bool | None = None, dim: int = -1, descending: bool = False) -> tuple[Array, Array]:
    """Sorted values and their indices."""
    along, where = line(x), axis(dim, x.ndim)
    order = _order(along, where, descending)
    return np.take_along_axis(along, order, where).reshape(x.shape), order.reshape(x.shape)


@lowering("aten.topk.default")
def topk(x: Array, k: int, dim: int = -1, largest: bool = True, ordered: bool = True) -> tuple[Array, Array]:
    """The k largest or smallest values, sorted, and their indices."""
    along, where = line(x), axis(dim, x.ndim)
    order = np.take(_order(along, where, largest), np.arange(k), axis=where)
    shape = order.shape if x.ndim else ()
    return np.take_along_axis(along, order, where).reshape(shape), order.reshape(shape)
