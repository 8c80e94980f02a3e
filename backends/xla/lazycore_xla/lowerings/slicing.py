"""Reading and writing of regular regions, fixed or starting where a run-time value says."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import jax
import jax.numpy as jnp
from jax import lax

from lazycore_xla.lowerings.operands import Array, as_dtype, axis_of, transpose_of
from lazycore_xla.registry import ANY, FLOATING, NUMERIC, lowering

__all__: list[str] = []

Index = int | Array


def _bounds(start: int | None, end: int | None, step: int, size: int) -> range:
    """The positions that ATen's slice takes: negative ends count from the back, all are clamped."""
    return range(*slice(start, sys.maxsize if end is None else end, step).indices(size))


@lowering("aten.slice.Tensor", dtypes=ANY)
def _slice(x: Array, dim: int = 0, start: int | None = None, end: int | None = None, step: int = 1) -> Array:
    axis = axis_of(dim, x.ndim)
    taken = _bounds(start, end, step, x.shape[axis])
    return lax.slice_in_dim(x, taken.start, max(taken.start, taken.stop), step, axis)


@lowering("aten.select.int", dtypes=ANY)
def _select(x: Array, dim: int, index: Index) -> Array:
    axis = axis_of(dim, x.ndim)
    if isinstance(index, int):
        return lax.index_in_dim(x, index, axis, keepdims=False)
    return lax.dynamic_index_in_dim(x, index, axis, keepdims=False)


@lowering("aten.slice_scatter.default", dtypes=ANY)
def _slice_scatter(
    x: Array, source: Array, dim: int = 0, start: int | None = None, end: int | None = None, step: int = 1
) -> Array:
    axis = axis_of(dim, x.ndim)
    taken = _bounds(start, end, step, x.shape[axis])
    source = jnp.broadcast_to(source, (*x.shape[:axis], len(taken), *x.shape[axis + 1 :]))
    if len(taken) == 0:
        return x
    if step == 1:
        return lax.dynamic_update_slice_in_dim(x, source, taken.start, axis)
    return x.at[(*[slice(None)] * axis, slice(taken.start, taken.stop, step))].set(source)


@lowering("aten.select_scatter.default", dtypes=ANY)
def _select_scatter(x: Array, source: Array, dim: int, index: Index) -> Array:
    axis = axis_of(dim, x.ndim)
    at = index % x.shape[axis] if isinstance(index, int) else index
    return lax.dynamic_update_index_in_dim(x, jnp.expand_dims(source, axis), at, axis)


@lowering("aten.slice_backward.default", dtypes=NUMERIC)
def _slice_backward(
    gradient: Array, sizes: Sequence[int], dim: int, start: int, end: int, step: int
) -> Array:  # fmt: skip
    """The gradient in its places, zeros around it."""
    axis = axis_of(dim, len(sizes))
    taken = _bounds(start, end, step, sizes[axis])
    if len(taken) == 0:
        return jnp.zeros(tuple(sizes), gradient.dtype)
    edges = [(0, 0, 0)] * len(sizes)
    edges[axis] = (taken.start, sizes[axis] - taken[-1] - 1, step - 1)
    return lax.pad(gradient, as_dtype(0, gradient.dtype), edges)


@lowering("aten.select_backward.default", dtypes=NUMERIC)
def _select_backward(gradient: Array, sizes: Sequence[int], dim: int, index: Index) -> Array:
    axis = axis_of(dim, len(sizes))
    if isinstance(index, jax.Array):
        return _select_scatter(jnp.zeros(tuple(sizes), gradient.dtype), gradient, dim, index)
    at = index % sizes[axis]
    return _slice_backward(jnp.expand_dims(gradient, axis), sizes, dim, at, at + 1, 1)


@lowering("aten.diagonal.default", dtypes=ANY)
def _diagonal(x: Array, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Array:
    return jnp.diagonal(x, offset, dim1, dim2)


@lowering("aten.diagonal_backward.default", dtypes=FLOATING)
def _diagonal_backward(gradient: Array, sizes: Sequence[int], offset: int, dim1: int, dim2: int) -> Array:
    return transpose_of(lambda x: jnp.diagonal(x, offset, dim1, dim2), sizes, gradient)


@lowering("aten.unfold_backward.default", dtypes=FLOATING)
def _unfold_backward(gradient: Array, sizes: Sequence[int], dim: int, size: int, step: int) -> Array:
    """Overlapping windows, whose elements lie in the gradient's last dimension, added where they came from."""
    if not sizes:
        return gradient.reshape(())
    axis = axis_of(dim, len(sizes))
    windows = gradient.shape[axis]
    places = jnp.arange(windows)[:, None] * step + jnp.arange(size)[None, :]
    moved = jnp.moveaxis(gradient, -1, axis + 1)
    return jnp.zeros(tuple(sizes), gradient.dtype).at[(*[slice(None)] * axis, places)].add(moved)


@lowering("lazycore.dynamic_slice.default", dtypes=ANY)
def _dynamic_slice(x: Array, starts: Sequence[Index], sizes: Sequence[int]) -> Array:
    return lax.dynamic_slice(x, [as_dtype(s, jnp.int64) for s in starts], sizes)


@lowering("lazycore.dynamic_update_slice.default", dtypes=ANY)
def _dynamic_update_slice(x: Array, update: Array, starts: Sequence[Index]) -> Array:
    return lax.dynamic_update_slice(x, update, [as_dtype(s, jnp.int64) for s in starts])
