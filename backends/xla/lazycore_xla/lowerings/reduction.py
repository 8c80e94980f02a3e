"""Reductions and running sums over dimensions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import jax.numpy as jnp
from jax import lax

from lazycore_xla.lowerings.operands import Array, Out, Scalar, as_dtype, axes_of, axis_of, quotient
from lazycore_xla.registry import FLOATING, NUMERIC, lowering

__all__: list[str] = []

Dims = int | Sequence[int] | None


@lowering("aten.sum.default", "aten.sum.dim_IntList", widen=True, needs_out=True, dtypes=NUMERIC)
def _sum(x: Array, dim: Dims = None, keepdim: bool = False, *, dtype: Any, out: Out) -> Array:  # noqa: ARG001
    """Adds in the result's dtype: int64 for integers and bool, unless ``dtype`` says otherwise."""
    return jnp.sum(x.astype(out[0].dtype.numpy), axis=axes_of(dim, x.ndim), keepdims=keepdim, dtype=out[0].dtype.numpy)


@lowering("aten.mean.default", "aten.mean.dim", widen=True, needs_out=True, dtypes=NUMERIC)
def _mean(x: Array, dim: Dims = None, keepdim: bool = False, *, dtype: Any, out: Out) -> Array:  # noqa: ARG001
    axes = axes_of(dim, x.ndim)
    total = jnp.sum(x.astype(out[0].dtype.numpy), axis=axes, keepdims=keepdim)
    return quotient(total, prod(x.shape[a] for a in axes))


@lowering("aten.prod.default", "aten.prod.dim_int", widen=True, needs_out=True, dtypes=NUMERIC)
def _prod(x: Array, dim: Dims = None, keepdim: bool = False, *, dtype: Any, out: Out) -> Array:  # noqa: ARG001
    wide = x.astype(out[0].dtype.numpy)
    return jnp.prod(wide, axis=axes_of(dim, x.ndim), keepdims=keepdim, dtype=wide.dtype)


@lowering("aten.amax.default", "aten.max.default")
def _amax(x: Array, dim: Dims = (), keepdim: bool = False) -> Array:
    return jnp.max(x, axis=axes_of(dim, x.ndim), keepdims=keepdim)


@lowering("aten.amin.default", "aten.min.default")
def _amin(x: Array, dim: Dims = (), keepdim: bool = False) -> Array:
    return jnp.min(x, axis=axes_of(dim, x.ndim), keepdims=keepdim)


@lowering("aten.argmax.default")
def _argmax(x: Array, dim: int | None = None, keepdim: bool = False) -> Array:
    """The first of equal ones; NaN counts as the largest."""
    return _position(jnp.argmax, x, dim, keepdim)


@lowering("aten.argmin.default")
def _argmin(x: Array, dim: int | None = None, keepdim: bool = False) -> Array:
    """The first of equal ones; NaN counts as the smallest."""
    return _position(jnp.argmin, x, dim, keepdim)


def _position(search: Callable[..., Array], x: Array, dim: int | None, keepdim: bool) -> Array:
    if x.ndim == 0:
        return jnp.zeros((), jnp.int64)
    return search(x, axis=None if dim is None else axis_of(dim, x.ndim), keepdims=keepdim).astype(jnp.int64)


@lowering("aten.max.dim")
def _max_dim(x: Array, dim: int, keepdim: bool = False) -> tuple[Array, Array]:
    return _chosen(x, _argmax(x, dim, True), dim, keepdim)


@lowering("aten.min.dim")
def _min_dim(x: Array, dim: int, keepdim: bool = False) -> tuple[Array, Array]:
    return _chosen(x, _argmin(x, dim, True), dim, keepdim)


def _chosen(x: Array, position: Array, dim: int, keepdim: bool) -> tuple[Array, Array]:
    """The elements at the positions, and these: of two zeros it is the first one's sign that counts."""
    if x.ndim == 0:
        return x, position
    axis = axis_of(dim, x.ndim)
    values = jnp.take_along_axis(x, position, axis)
    return (values, position) if keepdim else (jnp.squeeze(values, axis), jnp.squeeze(position, axis))


def _truth_axes(dim: Dims, rank: int) -> tuple[int, ...]:
    """Of all the reductions, only ``any`` and ``all`` read () as no dimension."""
    return () if dim == () else axes_of(dim, rank)


@lowering("aten.any.default", "aten.any.dim", "aten.any.dims", needs_out=True, dtypes=NUMERIC)
def _any(x: Array, dim: Dims = None, keepdim: bool = False, *, out: Out) -> Array:
    """bool, except uint8 for uint8."""
    truth = x != as_dtype(0, x.dtype)
    return jnp.any(truth, axis=_truth_axes(dim, x.ndim), keepdims=keepdim).astype(out[0].dtype.numpy)


@lowering("aten.all.default", "aten.all.dim", "aten.all.dims", needs_out=True, dtypes=NUMERIC)
def _all(x: Array, dim: Dims = None, keepdim: bool = False, *, out: Out) -> Array:
    """bool, except uint8 for uint8."""
    truth = x != as_dtype(0, x.dtype)
    return jnp.all(truth, axis=_truth_axes(dim, x.ndim), keepdims=keepdim).astype(out[0].dtype.numpy)


@lowering("aten.count_nonzero.default", "aten.count_nonzero.dim_IntList", dtypes=NUMERIC)
def _count_nonzero(x: Array, dim: Dims = None) -> Array:
    return jnp.sum(x != as_dtype(0, x.dtype), axis=axes_of(dim, x.ndim), dtype=jnp.int64)


@lowering("aten.logsumexp.default", widen=True, dtypes=FLOATING)
def _logsumexp(x: Array, dim: Dims, keepdim: bool = False) -> Array:
    axes = axes_of(dim, x.ndim)
    largest = jnp.max(x, axis=axes, keepdims=True, initial=-jnp.inf)
    shift = jnp.where(jnp.isinf(largest), 0, largest)
    result = jnp.log(jnp.sum(jnp.exp(x - shift), axis=axes, keepdims=True)) + shift
    return result if keepdim else jnp.squeeze(result, axes)


@lowering("aten.cumsum.default", widen=True, needs_out=True, dtypes=NUMERIC)
def _cumsum(x: Array, dim: int, *, dtype: Any, out: Out) -> Array:  # noqa: ARG001
    wide = x.astype(out[0].dtype.numpy)
    return jnp.cumsum(wide, axis=axis_of(dim, x.ndim), dtype=wide.dtype) if x.ndim else wide


@lowering("aten.cumprod.default", widen=True, needs_out=True, dtypes=NUMERIC)
def _cumprod(x: Array, dim: int, *, dtype: Any, out: Out) -> Array:  # noqa: ARG001
    wide = x.astype(out[0].dtype.numpy)
    return jnp.cumprod(wide, axis=axis_of(dim, x.ndim), dtype=wide.dtype) if x.ndim else wide


@lowering("aten.norm.Scalar", widen=True, dtypes=FLOATING)
def _norm_all(x: Array, p: Scalar) -> Array:
    return _norm(x, p, None, False)


@lowering("aten.norm.ScalarOpt_dim", widen=True, dtypes=FLOATING)
def _norm_dim(x: Array, p: Scalar | None, dim: Dims, keepdim: bool = False) -> Array:
    return _norm(x, 2 if p is None else p, dim, keepdim)


@lowering("aten.dist.default", widen=True, dtypes=FLOATING)
def _dist(x: Array, y: Array, p: Scalar) -> Array:
    return _norm(x - y, p, None, False)


@lowering("aten.linalg_vector_norm.default", widen=True, needs_out=True, dtypes=FLOATING)
def _vector_norm(x: Array, order: Scalar, dim: Dims, keepdim: bool = False, *, dtype: Any, out: Out) -> Array:  # noqa: ARG001
    return _norm(x.astype(out[0].dtype.numpy), order, dim, keepdim)


def _norm(x: Array, order: Any, dim: Dims, keepdim: bool) -> Array:
    """The p-norm of |x|: infinite orders are the extremes, order 0 counts what is not zero."""
    axes, size = axes_of(dim, x.ndim), jnp.abs(x)
    if order == float("inf"):
        return jnp.max(size, axis=axes, keepdims=keepdim, initial=0)
    if order == float("-inf"):
        return jnp.min(size, axis=axes, keepdims=keepdim)
    if order == 0:
        return jnp.sum(x != 0, axis=axes, keepdims=keepdim).astype(x.dtype)
    if order == 2:
        return lax.sqrt(jnp.sum(x * x, axis=axes, keepdims=keepdim))
    total = jnp.sum(size if order == 1 else jnp.power(size, as_dtype(order, x.dtype)), axis=axes, keepdims=keepdim)
    return total if order == 1 else jnp.power(total, as_dtype(1 / order, x.dtype))
