"""Windows over the last two or three dimensions: their attributes, positions and adaptive bounds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import jax.numpy as jnp
import numpy as np

from lazycore_xla.lowerings.operands import Array

__all__ = ["Sizes", "adaptive_bounds", "flat_positions", "per_dimension"]

Sizes: TypeAlias = Sequence[int]


def per_dimension(sizes: Sizes, rank: int, default: Sizes = ()) -> Sizes:
    """One number per dimension: from one that stands for all, or from none that stands for the default."""
    chosen = tuple(sizes) or tuple(default)
    return chosen if len(chosen) == rank else chosen * rank


def flat_positions(places: Sequence[Any], plane: Sizes) -> Array:
    """Row-major positions in a plane, for every combination of one vector of positions per dimension."""
    total = jnp.zeros((), jnp.int64)
    for d, (along, size) in enumerate(zip(places, plane, strict=True)):
        total = total * size + jnp.asarray(along).reshape(-1, *[1] * (len(plane) - 1 - d))
    return total


def adaptive_bounds(size: int, parts: int) -> tuple[Any, Any]:
    """Starts and ends of nearly equal, perhaps overlapping stretches: floor(i n / parts), ceil((i + 1) n / parts)."""
    starts = np.arange(parts) * size // parts
    return starts, -(-(np.arange(1, parts + 1) * size) // parts)
