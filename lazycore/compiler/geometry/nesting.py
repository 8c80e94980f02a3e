"""Views that nest but fit no refinement of the whole memory: windows inside windows, each reshaped on its own.

An example is ``x[2:62].view(10, 6)[::3, :4]`` of 67 elements: 67 has no divisor to offer, a window of 60 has.
"""

from __future__ import annotations

from functools import lru_cache
from math import gcd, isqrt
from typing import NamedTuple

from lazycore.compiler.geometry.layout import Axes
from lazycore.compiler.geometry.steps import Box, Reshape, Step, Stride

__all__ = ["nested_windows", "window_extent"]

Shape = tuple[int, ...]


class _Split(NamedTuple):
    """One way to lay the slowest axis: take every ``unit``-th element, ``blocks`` blocks of ``block`` of these; the
    faster axes lie within each block. ``extent`` elements of memory are needed for that."""

    extent: int
    unit: int
    blocks: int
    block: int


def window_extent(axes: Axes) -> int | None:
    """Fewest elements of memory that hold the axes (slowest first), each with the whole blocks it steps over.

    None if there is no such window. It begins with the first block and ends with the last element that matters.
    """
    return min((split.extent for split in _splits(axes)), default=None)


@lru_cache(maxsize=1024)
def _splits(axes: Axes) -> tuple[_Split, ...]:
    """All splits, those that need least memory first."""
    if not axes:
        return (_Split(1, 1, 1, 1),)
    common = gcd(*(s for _, s in axes))
    return tuple(sorted(split for unit in _divisors(common) if (split := _split(axes, unit)) is not None))


def _split(axes: Axes, unit: int) -> _Split | None:
    (n, stride), *faster = _scaled(axes, unit)
    least = window_extent(tuple(faster))
    block = None if least is None else next((d for d in _divisors(stride) if d >= least), None)
    if block is None:
        return None
    blocks = (n - 1) * (stride // block) + 1
    return _Split(unit * (blocks * block - 1) + 1, unit, blocks, block)


def _scaled(axes: Axes, unit: int) -> Axes:
    return tuple((n, s // unit) for n, s in axes)


@lru_cache(maxsize=1024)
def _divisors(number: int) -> tuple[int, ...]:
    """All divisors, smallest first."""
    small = [d for d in range(1, isqrt(number) + 1) if number % d == 0]
    return tuple(sorted({*small, *(number // d for d in small)}))


def nested_windows(extent: int, axes: Axes, offset: int, heads: Shape = ()) -> list[Step] | None:
    """Steps from the shape (*heads, extent) to (*heads, *sizes of ``axes``), or None if there are none.

    ``axes``: slowest first; they and ``offset`` address the last axis.
    """
    if len(axes) <= 1:
        n, stride = axes[0] if axes else (1, 1)
        return _take(heads, extent, offset, n, stride)
    for split in _splits(axes):
        if (steps := _through(split, extent, axes, offset, heads)) is not None:
            return steps
    return None


def _through(split: _Split, extent: int, axes: Axes, offset: int, heads: Shape) -> list[Step] | None:
    _, unit, blocks, block = split
    (n, stride), *rest = _scaled(axes, unit)
    faster = tuple(rest)
    window = _window(extent, offset, split, faster)
    inner = None if window is None else nested_windows(block, faster, window[1], (*heads, n))
    if window is None or inner is None:
        return None
    steps = _take(heads, extent, window[0], blocks * block, unit)
    steps.append(Reshape((*heads, blocks * block), (*heads, blocks, block)))
    if stride != block:
        steps.append(Stride(len(heads), 0, n, stride // block))
    return steps + inner


def _window(extent: int, offset: int, split: _Split, faster: Axes) -> tuple[int, int] | None:
    """Where the window starts, and the offset that is left within its first block.

    It starts at the offset if it then ends within the extent; else earlier, by as little as the faster axes allow.
    """
    _, unit, blocks, block = split
    phase, first = offset % unit, offset // unit
    room = (extent - phase + unit - 1) // unit
    left = max(0, first + blocks * block - room)
    inner = _splits(faster)[0]
    if left % inner.unit > block - inner.extent:
        left = -(-left // inner.unit) * inner.unit
    return (phase + (first - left) * unit, left) if left <= first and blocks * block <= room else None


def _take(heads: Shape, extent: int, start: int, count: int, step: int) -> list[Step]:
    """Take ``count`` elements of the axis after ``heads``, which is the last."""
    if count == extent:
        return []
    if step == 1 or count == 1:
        return [Box((*heads, extent), (*(0 for _ in heads), start), (*heads, count))]
    return [Stride(len(heads), start, count, step)]
