"""Sizes of values for estimates: a symbolic size counts as its lower bound, at least 1."""

from __future__ import annotations

from collections.abc import Iterable
from math import prod

from lazycore_plugin_api import Dim, Value

__all__ = ["nbytes", "numel", "sizes"]


def sizes(value: Value) -> tuple[int, ...]:
    """The value's shape in numbers."""
    return tuple(max(size.low, 1) if isinstance(size, Dim) else size for size in value.spec.shape)


def numel(value: Value) -> int:
    """Its number of elements."""
    return prod(sizes(value))


def nbytes(values: Iterable[Value]) -> int:
    """The bytes that all of the values take."""
    return sum(numel(value) * value.spec.dtype.itemsize for value in values)
