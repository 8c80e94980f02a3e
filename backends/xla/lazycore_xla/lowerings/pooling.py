"""Max pooling over two or three dimensions, with the positions of the maxima."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product
from math import prod
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from lazycore_xla.lowerings.operands import Array, Out, as_dtype, is_float
from lazycore_xla.lowerings.windows import Sizes, adaptive_bounds, flat_positions, per_dimension
from lazycore_xla.registry import lowering, register_all

__all__ = ["least", "max_pool_backward", "running_max"]


def least(x: Array) -> Array:
    """What no element of x's dtype is less than."""
    if is_float(x):
        return as_dtype(-jnp.inf, x.dtype)
    return as_dtype(False if x.dtype == jnp.bool_ else jnp.iinfo(x.dtype).min, x.dtype)


def running_max(candidates: Iterable[tuple[Array, Array]], best: Array, where: Array) -> tuple[Array, Array]:
    """The largest candidates and their positions. The first maximum wins, and the last NaN over any number."""
    where = jnp.broadcast_to(where, best.shape)
    for candidate, position in candidates:
        wins = candidate > best
        wins = wins | jnp.isnan(candidate) if is_float(best) else wins
        best, where = jnp.where(wins, candidate, best), jnp.where(wins, position, where)
    return best, where


def _max_pool(rank: int) -> Any:
    def pool(
        x: Array, kernel: Sizes, stride: Sizes, padding: Sizes, dilation: Sizes, ceil_mode: bool, *, out: Out
    ) -> tuple[Array, Array]:  # fmt: skip
        """Maxima and their flat positions in the input plane."""
        del ceil_mode  # its effect is in the output's size
        size, plane = out[0].static_shape[-rank:], x.shape[-rank:]
        window, steps = per_dimension(kernel, rank), per_dimension(stride, rank, kernel)
        pads, spread = per_dimension(padding, rank), per_dimension(dilation, rank)
        padded = _pad_for(x, size, window, steps, pads, spread)

        def candidates() -> Iterable[tuple[Array, Array]]:
            for offset in product(*map(range, window)):
                at = tuple(o * d for o, d in zip(offset, spread, strict=True))
                places = [np.arange(o) * s + a - p for o, s, a, p in zip(size, steps, at, pads, strict=True)]
                yield _strided(padded, at, size, steps), flat_positions(places, plane)

        first = flat_positions(_first_places(size, steps, pads, spread), plane)
        return running_max(candidates(), jnp.full((*x.shape[:-rank], *size), least(x)), first)

    return pool


def _pad_for(x: Array, size: Sizes, window: Sizes, steps: Sizes, pads: Sizes, spread: Sizes) -> Array:
    """Padded so that every window lies inside, and cropped where the last one ends before the edge."""
    edges = [(0, 0, 0)] * (x.ndim - len(size))
    for n, o, k, s, p, d in zip(x.shape[-len(size) :], size, window, steps, pads, spread, strict=True):
        edges.append((p, (o - 1) * s + d * (k - 1) + 1 - n - p, 0))
    return lax.pad(x, least(x), edges)


def _strided(x: Array, start: Sizes, size: Sizes, steps: Sizes) -> Array:
    lead = x.ndim - len(size)
    stop = [a + (o - 1) * s + 1 for a, o, s in zip(start, size, steps, strict=True)]
    return lax.slice(x, (*[0] * lead, *start), (*x.shape[:lead], *stop), (*[1] * lead, *steps))


def _first_places(size: Sizes, steps: Sizes, pads: Sizes, spread: Sizes) -> list[Any]:
    """The first element of each window that is not padding: what an all -inf window reports."""
    starts = [np.arange(o) * s - p for o, s, p in zip(size, steps, pads, strict=True)]
    return [np.where(v < 0, v + -(v // d) * d, v) for v, d in zip(starts, spread, strict=True)]


def _adaptive_max_pool(rank: int) -> Any:
    def pool(x: Array, output_size: Sizes) -> tuple[Array, Array]:
        """Maxima of nearly equal stretches; a shorter one looks at its last element again, which changes nothing."""
        plane = x.shape[-rank:]
        bounds = [adaptive_bounds(n, parts) for n, parts in zip(plane, output_size, strict=True)]
        reach = [int((stops - starts).max(initial=0)) for starts, stops in bounds]

        def candidates() -> Iterable[tuple[Array, Array]]:
            for offset in product(*map(range, reach)):
                places = [np.minimum(a + o, b - 1) for (a, b), o in zip(bounds, offset, strict=True)]
                yield _picked(x, places), flat_positions(places, plane)

        first = flat_positions([starts for starts, _ in bounds], plane)
        return running_max(candidates(), jnp.full((*x.shape[:-rank], *output_size), least(x)), first)

    return pool


def _picked(x: Array, places: list[Any]) -> Array:
    for d, along in enumerate(places, start=x.ndim - len(places)):
        x = jnp.take(x, jnp.asarray(along), axis=d)
    return x


register_all({f"aten.max_pool{r}d_with_indices.default": _max_pool(r) for r in (2, 3)}, needs_out=True)
register_all({f"aten.adaptive_max_pool{r}d.default": _adaptive_max_pool(r) for r in (2, 3)})


def max_pool_backward(rank: int) -> Any:
    """The gradient of any max pooling over ``rank`` dimensions; its last argument is the saved positions."""

    def backward(gradient: Array, x: Array, *attributes_and_indices: Any) -> Array:
        """Each gradient added at the saved position of its maximum."""
        indices: Array = attributes_and_indices[-1]
        planes, area = prod(x.shape[:-rank]), prod(x.shape[-rank:])
        size = prod(indices.shape[-rank:])  # not -1: there may be no plane
        flat = indices.reshape(planes, size) + lax.iota(jnp.int64, planes)[:, None] * area
        zeros = jnp.zeros(planes * area, gradient.dtype)
        added = zeros.at[flat.reshape(-1)].add(gradient.reshape(-1), mode="promise_in_bounds")
        return added.reshape(x.shape)

    return backward


for _rank in (2, 3):
    lowering(
        f"aten.max_pool{_rank}d_with_indices_backward.default",
        f"aten.adaptive_max_pool{_rank}d_backward.default",
    )(max_pool_backward(_rank))
