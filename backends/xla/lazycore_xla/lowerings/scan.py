"""Running maxima, minima and log-sums along a dimension."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
from jax import lax

from lazycore_xla.lowerings.operands import Array, axis_of, is_float
from lazycore_xla.registry import FLOATING, lowering

__all__: list[str] = []

Pair = tuple[Array, Array]


def _running(better: Callable[[Array, Array], Array]) -> Any:
    def scan(x: Array, dim: int) -> Pair:
        """Values and positions; of equal ones the last, and from a NaN on the last NaN."""
        if x.ndim == 0 or x.size == 0:
            return x, jnp.zeros(x.shape, jnp.int64)
        axis = axis_of(dim, x.ndim)

        def later(first: Pair, second: Pair) -> Pair:
            wins = better(second[0], first[0])
            if is_float(x):
                wins = jnp.isnan(second[0]) | (~jnp.isnan(first[0]) & wins)
            return jnp.where(wins, second[0], first[0]), jnp.where(wins, second[1], first[1])

        positions = lax.broadcasted_iota(jnp.int64, x.shape, axis)
        _, where = lax.associative_scan(later, (x, positions), axis=axis)
        # jax's scan adds its halves up with zeros between, so that of the values -0.0 would lose its sign.
        return jnp.take_along_axis(x, where, axis), where

    return scan


lowering("aten.cummax.default")(_running(jnp.greater_equal))
lowering("aten.cummin.default")(_running(jnp.less_equal))


@lowering("aten.logcumsumexp.default", dtypes=FLOATING)
def _logcumsumexp(x: Array, dim: int) -> Array:
    """Accumulates in double, as ATen does on the CPU."""
    if x.ndim == 0 or x.size == 0:
        return x
    return lax.cumlogsumexp(x.astype(jnp.float64), axis=axis_of(dim, x.ndim)).astype(x.dtype)
