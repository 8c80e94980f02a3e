"""Sorting. NaN counts as the largest; equal elements keep their order, whichever way the sort goes."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
from jax import lax

from lazycore_xla.lowerings.operands import Array, axis_of
from lazycore_xla.registry import lowering

__all__ = ["ordered"]


@lowering("aten.sort.stable")
def _sort_stable(x: Array, *, stable: bool | None, dim: int, descending: bool) -> tuple[Array, Array]:  # noqa: ARG001
    return ordered(x, dim, descending)


@lowering("aten.sort.default")
def ordered(x: Array, dim: int, descending: bool) -> tuple[Array, Array]:
    """Values and positions. A descending sort is an ascending one of the mirrored tensor, mirrored: that keeps it
    stable and needs no negation, which unsigned and least integers do not have."""
    if x.ndim == 0:
        return x, jnp.zeros((), jnp.int64)
    axis = axis_of(dim, x.ndim)
    positions = lax.broadcasted_iota(jnp.int64, x.shape, axis)
    operands = [lax.rev(v, (axis,)) if descending else v for v in (x, positions)]
    values, order = lax.sort(operands, dimension=axis, is_stable=True, num_keys=1)
    return (lax.rev(values, (axis,)), lax.rev(order, (axis,))) if descending else (values, order)


@lowering("aten.topk.default")
def _topk(x: Array, k: int, dim: int, largest: bool, in_order: bool) -> tuple[Array, Array]:
    del in_order  # they always are
    if x.ndim == 0:
        return ordered(x, 0, largest)
    axis = axis_of(dim, x.ndim)
    if x.dtype in _SINGLE and 0 not in (k, *x.shape):
        return _extremes(x, k, axis, largest)
    values, order = ordered(x, axis, largest)
    return lax.slice_in_dim(values, 0, k, axis=axis), lax.slice_in_dim(order, 0, k, axis=axis)


_SINGLE = (jnp.float32, jnp.float16, jnp.bfloat16)
"""What float32 holds: only for that has XLA's CPU compiler more than a sort of everything."""


def _extremes(x: Array, k: int, axis: int, largest: bool) -> tuple[Array, Array]:
    """XLA ranks by bits: zeros are made equal for it, and each NaN the one above, or below, everything."""
    numbers = x.astype(jnp.float32)
    numbers = jnp.where(numbers == 0, 0, numbers if largest else -numbers)
    ranked = jnp.where(jnp.isnan(x), np.copysign(np.float32(np.nan), 1 if largest else -1), numbers)
    _, order = lax.top_k(ranked, k, axis=axis)
    return jnp.take_along_axis(x, order, axis), order.astype(jnp.int64)
