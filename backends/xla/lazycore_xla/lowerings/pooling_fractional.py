"""Max pooling over windows whose places follow random samples (Graham, arXiv 1412.6071)."""

from __future__ import annotations

from itertools import product
from math import prod
from typing import Any

import jax.numpy as jnp

from lazycore_xla.lowerings.operands import Array, as_dtype
from lazycore_xla.lowerings.pooling import least, max_pool_backward, running_max
from lazycore_xla.lowerings.windows import Sizes, per_dimension
from lazycore_xla.registry import lowering

__all__: list[str] = []


def _starts(sample: Array, size: int, parts: int, window: int) -> Array:
    """(planes,) samples -> (planes, parts) first places: even steps, all shifted by the sample; the last is flush."""
    last = jnp.full((sample.size, 1), size - window, jnp.int64)
    if parts == 1:
        return last
    step = as_dtype((size - window) / (parts - 1), sample.dtype)
    shift = sample.reshape(-1, 1)
    count = jnp.arange(parts - 1, dtype=sample.dtype)
    places = ((count + shift) * step).astype(jnp.int64) - (shift * step).astype(jnp.int64)
    return jnp.concatenate((places, last), axis=1)


def _forward(rank: int) -> Any:
    def pool(x: Array, kernel: Sizes, output_size: Sizes, samples: Array) -> tuple[Array, Array]:
        plane, lead = x.shape[-rank:], x.shape[:-rank]
        window, size = per_dimension(kernel, rank), per_dimension(output_size, rank)
        planes = x.reshape(prod(lead), prod(plane))
        # The samples come in the order width, height; or time, height, width.
        order = range(rank - 1, -1, -1) if rank == 2 else range(rank)
        drawn = samples.reshape(-1, rank)[: prod(lead)]  # an input without a batch uses the first of a batch of samples
        columns = [drawn[:, c] for c in order]
        starts = [_starts(*row) for row in zip(columns, plane, size, window, strict=True)]

        def candidates() -> Any:
            for offset in product(*map(range, window)):
                flat = _flat([s + o for s, o in zip(starts, offset, strict=True)], plane)
                yield jnp.take_along_axis(planes, flat, axis=1), flat

        first = _flat(starts, plane)
        best, where = running_max(candidates(), jnp.full(first.shape, least(x)), first)
        return best.reshape(*lead, *size), where.reshape(*lead, *size)

    return pool


def _flat(places: list[Array], plane: Sizes) -> Array:
    """(planes, size of d) places per dimension -> (planes, all combinations) row-major positions."""
    total = jnp.zeros((places[0].shape[0], 1), jnp.int64)
    for along, size in zip(places, plane, strict=True):
        combined = total[:, :, None] * size + along[:, None, :]
        total = combined.reshape(combined.shape[0], combined.shape[1] * combined.shape[2])  # there may be no plane
    return total


for _rank in (2, 3):
    lowering(f"aten.fractional_max_pool{_rank}d.default")(_forward(_rank))
    lowering(f"aten.fractional_max_pool{_rank}d_backward.default")(max_pool_backward(_rank))
