"""Views that nest but fit no refinement of the whole memory: windows inside windows, each reshaped on its own.

An example is ``x[2:62].view(10, 6)[::3, :4]`` of 67 elements: 67 has no divisor to offer, a window of 60 has.
"""

from __future__ import annotations

from math import gcd, isqrt

from lazycore.compiler.geometry.layout import Axes
from lazycore.compiler.geometry.steps import Box, Reshape, Step, Stride

__all__ = ["nested_windows", "window_extent"]


def window_extent(axes: Axes) -> int | None:
    """Fewest elements of a block that holds the axes (slowest first), each with the whole blocks it steps over.

    None if there is no such block. The result counts from the first block's start to the last element that matters.
    """
    unit, scaled = _scale(axes)
    split = _split(scaled)
    return None if split is None else unit * (split[0] * split[1] - 1) + 1


def nested_windows(extent: int, axes: Axes, offset: int) -> list[Step] | None:
    """Steps from the flat memory (``extent``,) to the sizes of ``axes`` (slowest first), or None if there are none."""
    steps: list[Step] = []
    heads: tuple[int, ...] = ()
    while len(axes) > 1:
        unit, scaled = _scale(axes)
        split = _split(scaled)
        window = None if split is None else _window(extent, offset, unit, split, scaled[1:])
        if split is None or window is None:
            return None
        start, offset = window
        (n, stride), (count, block) = scaled[0], split
        steps += _take(heads, extent, start, count * block, unit)
        steps.append(Reshape((*heads, count * block), (*heads, count, block)))
        steps += _take(heads, count, 0, n, stride // block)
        heads, extent, axes = (*heads, n), block, scaled[1:]
    (n, stride), *_ = axes or ((1, 1),)
    return [*steps, *_take(heads, extent, offset, n, stride)]


def _scale(axes: Axes) -> tuple[int, Axes]:
    """The strides' greatest common divisor, and the axes with strides divided by it."""
    unit = gcd(*(s for _, s in axes)) or 1
    return unit, tuple((n, s // unit) for n, s in axes)


def _split(scaled: Axes) -> tuple[int, int] | None:
    """(count, block): how many blocks of which size the first axis spans, inner axes lying within a block each."""
    if not scaled:
        return 1, 1
    (n, stride), inner = scaled[0], window_extent(scaled[1:])
    block = None if inner is None else _divisor(stride, inner)
    return None if block is None else ((n - 1) * (stride // block) + 1, block)


def _divisor(number: int, least: int) -> int | None:
    """The smallest divisor of ``number`` that is not below ``least``."""
    small = [d for d in range(1, isqrt(number) + 1) if number % d == 0]
    return min((d for d in (*small, *(number // s for s in small)) if d >= least), default=None)


def _window(extent: int, offset: int, unit: int, split: tuple[int, int], inner: Axes) -> tuple[int, int] | None:
    """Where the window starts, and the offset that is left within its first block.

    It starts at the offset if it then ends within the extent; else earlier, by as little as the inner steps allow.
    """
    count, block = split
    phase, first = offset % unit, offset // unit
    room = (extent - phase + unit - 1) // unit
    left = max(0, first + count * block - room)
    step, reach = _scale(inner)[0], window_extent(inner)
    if reach is None or left % step > block - reach:
        left = -(-left // step) * step
    return (phase + (first - left) * unit, left) if 0 <= left <= first and count * block <= room else None


def _take(heads: tuple[int, ...], extent: int, start: int, count: int, step: int) -> list[Step]:
    """Take ``count`` elements of the axis after ``heads``; axes that follow it are not known here, nor needed."""
    if count == extent:
        return []
    if step == 1 or count == 1:
        zeros = (0,) * len(heads)
        return [Box((*heads, extent), (*zeros, start), (*heads, count))]
    return [Stride(len(heads), start, count, step)]
