"""Order statistics along a dimension, and places in sorted sequences."""

from __future__ import annotations

import jax.numpy as jnp
from jax import lax

from lazycore_xla.lowerings.operands import Array, Out, Scalar, as_dtype, axis_of, is_float
from lazycore_xla.lowerings.sort import ordered
from lazycore_xla.registry import NUMERIC, lowering

__all__: list[str] = []

Pair = tuple[Array, Array]


def _kept(pair: Pair, axis: int, keepdim: bool) -> Pair:
    return pair if keepdim else (jnp.squeeze(pair[0], axis), jnp.squeeze(pair[1], axis))


def _picked(x: Array, rank: Array | int, dim: int, keepdim: bool) -> Pair:
    """The element of this rank (an array has size 1 along the dimension), and where it stands."""
    if x.ndim == 0:
        return x, jnp.zeros((), jnp.int64)
    axis = axis_of(dim, x.ndim)
    values, order = ordered(x, axis, descending=False)
    shape = (*x.shape[:axis], 1, *x.shape[axis + 1 :])
    at = jnp.broadcast_to(jnp.asarray(rank, jnp.int64), shape)
    return _kept(
        (jnp.take_along_axis(values, at, axis), jnp.take_along_axis(order, at, axis)), axis, keepdim
    )  # fmt: skip


@lowering("aten.kthvalue.default")
def _kthvalue(x: Array, k: Scalar, dim: int = -1, keepdim: bool = False) -> Pair:
    return _picked(x, as_dtype(k, jnp.int64) - 1, dim, keepdim)


@lowering("aten.median.dim")
def _median_dim(x: Array, dim: int, keepdim: bool = False) -> Pair:
    """The lower of two middle ones. A NaN, which sorts last, is the median of what it stands in."""
    if x.ndim == 0:
        return x, jnp.zeros((), jnp.int64)
    axis = axis_of(dim, x.ndim)
    size = x.shape[axis]
    numbers = _numbers(x, axis)
    return _picked(x, jnp.where(numbers == size, (size - 1) // 2, numbers), dim, keepdim)


@lowering("aten.nanmedian.dim")
def _nanmedian_dim(x: Array, dim: int, keepdim: bool = False) -> Pair:
    """The lower of two middle ones among the numbers; NaN where there is no number."""
    if x.ndim == 0:
        return x, jnp.zeros((), jnp.int64)
    numbers = _numbers(x, axis_of(dim, x.ndim))
    return _picked(x, jnp.maximum(numbers - 1, 0) // 2, dim, keepdim)


def _numbers(x: Array, axis: int) -> Array:
    """How many along the axis are not NaN."""
    return jnp.sum(~jnp.isnan(x) if is_float(x) else jnp.ones(x.shape, bool), axis=axis, keepdims=True)


@lowering("aten.median.default")
def _median(x: Array) -> Array:
    return _median_dim(x.reshape(-1), 0)[0] if x.size else _missing(x)


@lowering("aten.nanmedian.default")
def _nanmedian(x: Array) -> Array:
    return _nanmedian_dim(x.reshape(-1), 0)[0] if x.size else _missing(x)


def _missing(x: Array) -> Array:
    """The median of nothing: NaN, or for integers ATen's stand-in for it."""
    return as_dtype(jnp.nan if is_float(x) else jnp.iinfo(x.dtype).min, x.dtype)


@lowering("aten.mode.default")
def _mode(x: Array, dim: int = -1, keepdim: bool = False) -> Pair:
    """The most frequent element, the least of several, and where it stands last."""
    if x.ndim == 0:
        return x, jnp.zeros((), jnp.int64)
    axis = axis_of(dim, x.ndim)
    values, order = ordered(x, axis, descending=False)
    positions = lax.broadcasted_iota(jnp.int64, x.shape, axis)
    starts = values != jnp.roll(values, 1, axis)
    lengths = positions - lax.cummax(jnp.where(starts, positions, 0), axis=axis)
    at = jnp.argmax(lengths, axis=axis, keepdims=True)
    return _kept((jnp.take_along_axis(values, at, axis), jnp.take_along_axis(order, at, axis)), axis, keepdim)


def _place(sequence: Array, x: Array, right: bool) -> Array:
    """Binary search of x (..., m) in (..., n), batches alike: the first place whose element is not below it."""
    low = jnp.zeros(x.shape, jnp.int64)
    high = jnp.full(x.shape, sequence.shape[-1], jnp.int64)
    for _ in range(sequence.shape[-1].bit_length()):
        middle = (low + high) // 2
        element = jnp.take_along_axis(sequence, jnp.minimum(middle, sequence.shape[-1] - 1), axis=-1)
        below = (low < high) & ~((element > x) if right else (element >= x))
        low, high = jnp.where(below, middle + 1, low), jnp.where(below, high, jnp.maximum(middle, low))
    return low


@lowering("aten.searchsorted.Tensor", "aten.searchsorted.Scalar", needs_out=True)
def _searchsorted(
    sequence: Array,
    x: Scalar,
    *,
    out_int32: bool = False,  # noqa: ARG001
    right: bool = False,
    side: str | None = None,
    sorter: Array | None = None,
    out: Out,
) -> Array:
    """One sequence for all of x, or one for each row of x."""
    if sorter is not None:
        sequence = jnp.take_along_axis(sequence, sorter, axis=-1)
    dtype = jnp.promote_types(sequence.dtype, x.dtype) if isinstance(x, Array) else sequence.dtype
    wanted = as_dtype(x, dtype)
    flat = wanted.reshape(-1) if sequence.ndim == 1 else wanted
    places = _place(sequence.astype(dtype), flat, right or side == "right")
    return places.reshape(wanted.shape).astype(out[0].dtype.numpy)


@lowering("aten.bucketize.Tensor", "aten.bucketize.Scalar", needs_out=True)
def _bucketize(x: Scalar, boundaries: Array, *, out_int32: bool = False, right: bool = False, out: Out) -> Array:
    return _searchsorted(boundaries, x, out_int32=out_int32, right=right, out=out)


@lowering("aten.nonzero_static.default", dtypes=NUMERIC)
def _nonzero_static(x: Array, *, size: int, fill_value: int = -1) -> Array:
    """The places of the first ``size`` elements that are not zero, row by row, shape (size, rank); filled up."""
    if x.ndim == 0 or x.size == 0:
        return jnp.full((size, x.ndim), fill_value, jnp.int64)
    places = jnp.nonzero(x != as_dtype(0, x.dtype), size=size, fill_value=fill_value)
    return jnp.stack(places, axis=1).astype(jnp.int64)
