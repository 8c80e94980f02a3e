"""Arithmetic on (size, stride) pairs: memory order, density, span, coalescing.

An *axis* is a pair (size, stride) counted in elements. Offsets count elements in memory order.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import TypeAlias

__all__ = [
    "Axes",
    "Axis",
    "coalesce",
    "compact",
    "dense_axes",
    "memory_order",
    "nests",
    "offset_is_fixed",
    "row_major",
    "significant",
    "span",
]

Axis: TypeAlias = tuple[int, int]
Axes: TypeAlias = tuple[Axis, ...]


def dense_axes(size: Sequence[int], stride: Sequence[int]) -> Axes:
    """The axes of a base, size-1 ones with stride 1. Raises ValueError unless it is dense and non-overlapping."""
    if len(size) != len(stride):
        raise ValueError(f"a base of size {tuple(size)} cannot have the stride {tuple(stride)}")
    if 0 in size:
        return tuple((n, 1) for n in size)
    place = 1
    for s, n in sorted((s, n) for n, s in zip(size, stride, strict=True) if n != 1):
        if s != place:
            raise ValueError(f"the base of size {tuple(size)} and stride {tuple(stride)} is not dense")
        place *= n
    return tuple((n, s if n != 1 else 1) for n, s in zip(size, stride, strict=True))


def significant(size: Sequence[int], stride: Sequence[int]) -> Axes:
    """The axes that move through memory: neither of size 1 nor of stride 0; in logical order."""
    return tuple((n, s) for n, s in zip(size, stride, strict=True) if n != 1 and s != 0)


def memory_order(axes: Axes) -> list[int]:
    """Indices of the axes from the slowest moving to the fastest."""
    return sorted(range(len(axes)), key=lambda i: -axes[i][1])


def span(axes: Sequence[Axis]) -> int:
    """Elements from the first to the last one addressed, both counted; 1 for no axes. No axis may be empty."""
    return 1 + sum((n - 1) * s for n, s in axes)


def nests(axes: Axes) -> bool:
    """Whether each axis, slowest first, steps over everything the faster ones address (so nothing overlaps)."""
    return all(s >= span(axes[i + 1 :]) for i, (_, s) in enumerate(axes))


def coalesce(axes: Axes) -> Axes:
    """Slowest first, with neighbours that step as one (``s == n' * s'``) merged."""
    merged: list[Axis] = []
    for n, s in (axes[i] for i in memory_order(axes)):
        if merged and merged[-1][1] == n * s:
            n *= merged.pop()[0]
        merged.append((n, s))
    return tuple(merged)


def compact(axes: Axes) -> Axes:
    """The same sizes in the same order, with the dense strides that keep the order in memory."""
    strides = [1] * len(axes)
    place = 1
    for i in reversed(memory_order(axes)):
        strides[i] = place
        place *= axes[i][0]
    return tuple((n, s) for (n, _), s in zip(axes, strides, strict=True))


def row_major(axes: Axes) -> Axes:
    """The same sizes in the same order, with the strides of a contiguous tensor."""
    return tuple((n, prod(m for m, _ in axes[i + 1 :])) for i, (n, _) in enumerate(axes))


def offset_is_fixed(base_size: Sequence[int], size: Sequence[int], stride: Sequence[int]) -> bool:
    """Whether the view reaches from the base's first element to its last, so that its offset can only be 0.

    A view without elements has no place at all; its offset is fixed too, as nothing depends on it.
    """
    return 0 in size or span(significant(size, stride)) == prod(base_size)
