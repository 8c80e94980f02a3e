"""Two-dimensional upsampling of (N, C, H, W) and its gradients."""

# To mypy, arithmetic on arrays of any dtype is Any.
# mypy: disable-error-code="no-any-return"

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from lazycore_reference.registry import Array, lowering


def _ratio(size: int, out: int, scale: float | None) -> np.float32:
    return np.float32(1 / scale) if scale else np.float32(size) / np.float32(out)


def _nearest(size: int, out: int, scale: float | None) -> Array:
    """The source position of each output position: whatever the scale says, as the CPU has it, an unchanged or doubled
    size repeats each input as often."""
    if out in (size, 2 * size):
        return np.arange(out) // (out // size if size else 1)
    places = np.floor(np.arange(out, dtype=np.float32) * _ratio(size, out, scale)).astype(np.intp)
    return np.minimum(places, size - 1)


def _add_at(sizes: Sequence[int], rows: Array, columns: Array, values: Array) -> Array:
    result = np.zeros(sizes, values.dtype)
    place: Any = (slice(None), slice(None), rows[:, None], columns)
    np.add.at(result, place, values)
    return result


@lowering("aten.upsample_nearest2d.default")
def nearest(x: Array, size: Sequence[int], high: float | None = None, wide: float | None = None) -> Array:
    """Each output is the input at the scaled position, rounded down."""
    rows, columns = _nearest(x.shape[2], size[0], high), _nearest(x.shape[3], size[1], wide)
    return x[:, :, rows[:, None], columns]


@lowering("aten.upsample_nearest2d_backward.default")
def nearest_backward(
    grad: Array, size: Sequence[int], sizes: Sequence[int], high: float | None = None, wide: float | None = None
) -> Array:
    """Each gradient added at the position it was read from."""
    rows, columns = _nearest(sizes[2], size[0], high), _nearest(sizes[3], size[1], wide)
    return _add_at(sizes, rows, columns, grad)


def _linear(
    size: int, out: int, align: bool, scale: float | None, kind: type[np.floating[Any]]
) -> tuple[tuple[Array, Array], ...]:
    """The two source positions of each output position and their weights, reckoned in ``kind``. An unchanged size is a
    copy, whatever the scale says, as on the CPU."""
    index = np.arange(out, dtype=kind)
    if size == out:
        same = index.astype(np.intp)
        return (same, np.ones_like(index)), (same, np.zeros_like(index))
    if align:
        place = index * (kind(size - 1) / kind(out - 1) if out > 1 else kind(0))
    else:
        ratio = kind(1 / scale) if scale else kind(size) / kind(out)
        place = np.maximum((index + kind(0.5)) * ratio - kind(0.5), kind(0))
    first = np.minimum(place.astype(np.intp), size - 1)
    weight = np.clip(place - first.astype(kind), kind(0), kind(1))
    return (first, 1 - weight), (np.minimum(first + 1, size - 1), weight)


def _corners(
    sizes: Sequence[int], out: Sequence[int], align: bool, scales: tuple[float | None, float | None], x: Array
) -> Iterator[tuple[Array, Array, Array]]:
    """Rows, columns and weights of the four neighbours; in the precision of ``x``, as the CPU's kernel."""
    kind = np.float64 if x.dtype == np.float64 else np.float32
    for rows, vertical in _linear(sizes[0], out[0], align, scales[0], kind):
        for columns, horizontal in _linear(sizes[1], out[1], align, scales[1], kind):
            yield rows, columns, vertical[:, None] * horizontal


@lowering("aten.upsample_bilinear2d.default")
def bilinear(x: Array, size: Sequence[int], align: bool, high: float | None = None, wide: float | None = None) -> Array:
    """Each output is the weighted mean of its four neighbours; ``align`` maps corner to corner. Of uint8, rounded."""
    if x.dtype == np.uint8:
        return np.floor(bilinear(x.astype(np.float32), size, align, high, wide) + np.float32(0.5)).astype(x.dtype)
    result = np.zeros((*x.shape[:2], *size), x.dtype)
    for rows, columns, weight in _corners(x.shape[2:], size, align, (high, wide), x):
        result += x[:, :, rows[:, None], columns] * weight.astype(x.dtype)
    return result


@lowering("aten.upsample_bilinear2d_backward.default")
def bilinear_backward(
    grad: Array,
    size: Sequence[int],
    sizes: Sequence[int],
    align: bool,
    high: float | None = None,
    wide: float | None = None,
) -> Array:
    """Each gradient spread over its four neighbours by weight."""
    result = np.zeros(sizes, grad.dtype)
    for rows, columns, weight in _corners(sizes[2:], size, align, (high, wide), grad):
        result += _add_at(sizes, rows, columns, grad * weight.astype(grad.dtype))
    return result
