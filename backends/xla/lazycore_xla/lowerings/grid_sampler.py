"""Reading planes and volumes at fractional places (``grid_sample``); gradients by differentiating the forward."""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum
from functools import reduce
from itertools import product
from math import prod
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from lazycore_xla.lowerings.operands import Array, Out
from lazycore_xla.registry import FLOATING, lowering

__all__: list[str] = []

CUBIC = -0.75
"""The cubic convolution kernel's parameter (Keys, 1981)."""


class _Form(IntEnum):
    """ATen's numbers for the interpolation."""

    linear = 0
    nearest = 1
    cubic = 2


class _Padding(IntEnum):
    """ATen's numbers for what lies outside."""

    zeros = 0
    border = 1
    reflection = 2


def _unnormalized(place: Array, size: int, align_corners: bool) -> Array:
    """-1..1 as places in 0..size-1: ends at the corners' centres, or at their outer edges."""
    return (place + 1) / 2 * (size - 1) if align_corners else ((place + 1) * size - 1) / 2


def _clipped(place: Array, size: int) -> Array:
    """Inside 0..size-1, with no slope at or beyond the ends, and 0 for NaN."""
    inside = (place > 0) & (place < size - 1)
    held = lax.stop_gradient(jnp.where(place >= size - 1, place.dtype.type(size - 1), place.dtype.type(0)))
    return jnp.where(inside, place, held)


def _reflected(place: Array, size: int, align_corners: bool) -> Array:
    """Mirrored back and forth between the ends."""
    low, span = (0.0, size - 1.0) if align_corners else (-0.5, float(size))
    if span == 0:
        return jnp.zeros_like(place)
    shifted = place - low
    distance = jnp.where(shifted < 0, -shifted, shifted)
    turns = lax.stop_gradient(jnp.floor(distance / span))
    rest = distance - turns * span
    return jnp.where(turns % 2 == 0, rest + low, span - rest + low)


def _inside(place: Array, size: int, padding: int, align_corners: bool) -> Array:
    if padding == _Padding.reflection:
        place = _reflected(place, size, align_corners)
    return place if padding == _Padding.zeros else _clipped(place, size)


def _taps(place: Array, size: int, form: int, padding: int, align_corners: bool) -> list[tuple[Array, Array]]:
    """(position, weight) of the elements along one dimension that a place is read from."""
    place = _unnormalized(place, size, align_corners)
    if form == _Form.cubic:
        low = lax.stop_gradient(jnp.floor(place))
        return [
            (_inside(low + k, size, padding, align_corners), _cubic_weight(jnp.abs(place - low - k)))
            for k in range(-1, 3)
        ]
    place = _inside(place, size, padding, align_corners)
    if form == _Form.nearest:
        return [(lax.stop_gradient(jnp.round(place)), jnp.ones_like(place))]
    low = lax.stop_gradient(jnp.floor(place))
    return [(low, low + 1 - place), (low + 1, place - low)]


def _cubic_weight(t: Array) -> Array:
    near = ((CUBIC + 2) * t - (CUBIC + 3)) * t * t + 1
    far = ((CUBIC * t - 5 * CUBIC) * t + 8 * CUBIC) * t - 4 * CUBIC
    return jnp.where(t <= 1, near, far)


def _read(x: Array, positions: Sequence[Array]) -> Array:
    """(n, c, *plane) at (n, *out) positions per dimension -> (n, c, *out); 0 outside of the plane."""
    plane = x.shape[2:]
    valid = reduce(jnp.logical_and, [(p >= 0) & (p <= n - 1) for p, n in zip(positions, plane, strict=True)])
    flat = jnp.zeros_like(positions[0], jnp.int64)
    for p, n in zip(positions, plane, strict=True):
        flat = flat * n + jnp.where(valid, p, 0).astype(jnp.int64)
    planes = x.reshape(*x.shape[:2], prod(plane))  # not -1: there may be no plane
    picked = jnp.take_along_axis(planes, flat.reshape(flat.shape[0], 1, prod(flat.shape[1:])), axis=2)
    return jnp.where(valid[:, None], picked.reshape(*x.shape[:2], *flat.shape[1:]), 0)


def _sample(x: Array, grid: Array, form: int, padding: int, align_corners: bool) -> Array:
    """x is (n, c, *plane); the grid's last dimension holds the place in each dimension, the last dimension first."""
    plane = x.shape[2:]
    taps = [
        _taps(grid[..., len(plane) - 1 - d], size, form, padding, align_corners) for d, size in enumerate(plane)
    ]  # fmt: skip
    total = jnp.zeros((*x.shape[:2], *grid.shape[1:-1]), x.dtype)
    for choice in product(*taps):
        weight = reduce(jnp.multiply, [w for _, w in choice])
        total = total + _read(x, [p for p, _ in choice]) * weight[:, None]
    return total


@lowering("aten.grid_sampler_2d.default", "aten.grid_sampler_3d.default", widen=True, dtypes=FLOATING)
def _forward(x: Array, grid: Array, form: int, padding: int, align_corners: bool) -> Array:
    return _sample(x, grid, form, padding, align_corners)


@lowering(
    "aten.grid_sampler_2d_backward.default",
    "aten.grid_sampler_3d_backward.default",
    widen=True,
    needs_out=True,
    dtypes=FLOATING,
)
def _backward(
    gradient: Array,
    x: Array,
    grid: Array,
    form: int,
    padding: int,
    align_corners: bool,
    output_mask: Sequence[bool],
    *,
    out: Out,
) -> tuple[Any, ...]:
    """Gradients of the input and the grid; one that was not asked for is as empty as its spec."""
    _, pull = jax.vjp(lambda v, g: _sample(v, g, form, padding, align_corners), x, grid)
    rows = zip(pull(gradient), output_mask, out, strict=True)
    return tuple(g if asked else jnp.zeros(s.static_shape, s.dtype.numpy) for g, asked, s in rows)
