"""Max pooling over two dimensions, with the positions of the maxima."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from math import prod

import jax.numpy as jnp
import numpy as np
from jax import lax

from lazycore_xla.lowerings.operands import Array, Out, as_dtype, is_float
from lazycore_xla.registry import lowering

__all__ = ["pair"]

Sizes = Sequence[int]


def pair(sizes: Sizes, default: Sizes = ()) -> tuple[int, int]:
    """One number per dimension, from two, from one that stands for both, or from none that stands for the default."""
    chosen = tuple(sizes) or tuple(default)
    return (chosen[0], chosen[-1])


@lowering("aten.max_pool2d_with_indices.default", needs_out=True)
def _max_pool(
    x: Array, kernel: Sizes, stride: Sizes, padding: Sizes, dilation: Sizes, ceil_mode: bool, *, out: Out
) -> tuple[Array, Array]:  # fmt: skip
    """Maxima and their flat positions in the input plane. The first maximum wins, and a NaN over any number."""
    del ceil_mode  # its effect is in the output's size
    size = out[0].static_shape[-2:]
    steps, pads, spread = pair(stride, kernel), pair(padding), pair(dilation)
    least = as_dtype(-jnp.inf if is_float(x) else _least_integer(x), x.dtype)
    padded = _pad_for(x, least, size, pair(kernel), steps, pads, spread)
    best = jnp.full((*x.shape[:-2], *size), least)
    where = _first_positions(size, x.shape[-2:], steps, pads, spread)
    where = jnp.broadcast_to(where, best.shape)
    for offset in product(*map(range, pair(kernel))):
        at = tuple(o * d for o, d in zip(offset, spread, strict=True))
        candidate = _strided(padded, at, size, steps)
        wins = candidate > best
        wins = wins | jnp.isnan(candidate) if is_float(x) else wins
        position = _positions(size, x.shape[-1], steps, tuple(a - p for a, p in zip(at, pads, strict=True)))
        best, where = jnp.where(wins, candidate, best), jnp.where(wins, position, where)
    return best, where


def _least_integer(x: Array) -> int:
    return 0 if x.dtype == jnp.bool_ else int(jnp.iinfo(x.dtype).min)


def _pad_for(
    x: Array, value: Array, size: Sizes, kernel: Sizes, steps: Sizes, pads: Sizes, spread: Sizes
) -> Array:  # fmt: skip
    """Padded so that every window lies inside, and cropped where the last one ends before the edge."""
    edges = [(0, 0, 0)] * (x.ndim - 2)
    for n, o, k, s, p, d in zip(x.shape[-2:], size, kernel, steps, pads, spread, strict=True):
        edges.append((p, (o - 1) * s + d * (k - 1) + 1 - n - p, 0))
    return lax.pad(x, value, edges)


def _strided(x: Array, start: Sizes, size: Sizes, steps: Sizes) -> Array:
    lead = x.ndim - 2
    stop = [a + (o - 1) * s + 1 for a, o, s in zip(start, size, steps, strict=True)]
    return lax.slice(x, (*[0] * lead, *start), (*x.shape[:-2], *stop), (*[1] * lead, *steps))


def _positions(size: Sizes, width: int, steps: Sizes, start: Sizes) -> Array:
    """Flat positions, in a plane of this width, of one window element for every output."""
    rows, columns = (lax.iota(jnp.int64, o) * s + a for o, s, a in zip(size, steps, start, strict=True))
    return rows[:, None] * width + columns[None, :]


def _first_positions(size: Sizes, plane: Sizes, steps: Sizes, pads: Sizes, spread: Sizes) -> Array:
    """The first element of each window that is not padding: what an all -inf window reports."""
    starts = []
    for o, s, p, d in zip(size, steps, pads, spread, strict=True):
        start = np.arange(o) * s - p
        starts.append(np.where(start < 0, start + -(start // d) * d, start))
    return jnp.asarray(starts[0][:, None] * plane[1] + starts[1][None, :])


@lowering("aten.max_pool2d_with_indices_backward.default")
def _max_pool_backward(
    gradient: Array,
    x: Array,
    kernel: Sizes,  # noqa: ARG001
    stride: Sizes,  # noqa: ARG001
    padding: Sizes,  # noqa: ARG001
    dilation: Sizes,  # noqa: ARG001
    ceil_mode: bool,  # noqa: ARG001
    indices: Array,
) -> Array:
    """Each gradient added at the saved position of its maximum."""
    planes, area = prod(x.shape[:-2]), prod(x.shape[-2:])
    flat = indices.reshape(planes, -1) + lax.iota(jnp.int64, planes)[:, None] * area
    zeros = jnp.zeros(planes * area, gradient.dtype)
    added = zeros.at[flat.reshape(-1)].add(gradient.reshape(-1), mode="promise_in_bounds")
    return added.reshape(x.shape)
