"""Sorting. NaN counts as the largest; equal elements keep their order, whichever way the sort goes."""

from __future__ import annotations

import jax.numpy as jnp
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
    values, order = ordered(x, axis, largest)
    return lax.slice_in_dim(values, 0, k, axis=axis), lax.slice_in_dim(order, 0, k, axis=axis)
