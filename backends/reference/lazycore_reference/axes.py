"""Dimensions as ATen names them: negative ones, none for all, and 0-d tensors that count as one-dimensional."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from lazycore_reference.registry import Array

__all__ = ["all_axes", "axis", "line", "per_dimension", "trailing"]


def axis(dim: int, ndim: int) -> int:
    """A dimension as a non-negative number; of a 0-d tensor, 0."""
    return dim % max(ndim, 1)


def all_axes(dims: int | Sequence[int] | None, ndim: int) -> tuple[int, ...]:
    """The dimensions a reduction runs over: None and an empty list mean all."""
    if isinstance(dims, int):
        dims = (dims,)
    if not dims or ndim == 0:
        return tuple(range(ndim))
    return tuple(axis(d, ndim) for d in dims)


def line(x: Array) -> Array:
    """A 0-d array as one of a single element, any other as it is."""
    return x.reshape(1) if x.ndim == 0 else x


def trailing(places: Iterable[Any]) -> tuple[Any, ...]:
    """An index into the last dimensions: one slice or number for each, everything before them."""
    return (..., *places)


def per_dimension(values: Sequence[int], count: int) -> tuple[int, ...]:
    """One number for each of ``count`` dimensions; a single one holds for all."""
    return tuple(values) * count if len(values) == 1 else tuple(values)
