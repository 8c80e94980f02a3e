"""Reductions and scans. Dimensions: None and an empty list mean all; a 0-d tensor has the dimension 0."""

# To mypy, arithmetic on arrays of any dtype is Any.
# mypy: disable-error-code="no-any-return"

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from lazycore_plugin_api import DType, Node

from lazycore_reference.axes import all_axes, axis, line
from lazycore_reference.registry import Array, lowering

Dims: TypeAlias = int | Sequence[int] | None


def _typed(x: Array, dtype: DType | None) -> Array:
    """The operand in the dtype asked for; 16-bit floats are accumulated in float32."""
    if dtype is None or (dtype.is_floating and dtype.itemsize < 4):
        return x
    return x.astype(dtype.numpy)


def count(x: Array, axes: tuple[int, ...]) -> int:
    """Number of elements that a reduction over the axes combines."""
    return math.prod(x.shape[a] for a in axes)


@lowering("aten.sum.default", "aten.sum.dim_IntList")
def total(x: Array, dims: Dims = None, keepdim: bool = False, *, dtype: DType | None = None) -> Array:
    """The sum; of integers and booleans, an int64."""
    return np.asarray(np.sum(_typed(x, dtype), axis=all_axes(dims, x.ndim), keepdims=keepdim))


@lowering("aten.prod.default")
def product(x: Array, *, dtype: DType | None = None) -> Array:
    """The product of all elements; of integers and booleans, an int64."""
    return np.asarray(np.prod(_typed(x, dtype)))


@lowering("aten.prod.dim_int")
def product_along(x: Array, dim: int, keepdim: bool = False, *, dtype: DType | None = None) -> Array:
    """The product along a dimension."""
    return np.asarray(np.prod(_typed(x, dtype), axis=all_axes(dim, x.ndim), keepdims=keepdim))


@lowering("aten.mean.default", "aten.mean.dim")
def mean(x: Array, dims: Dims = None, keepdim: bool = False, *, dtype: DType | None = None) -> Array:
    """The mean; NaN of no elements."""
    axes, x = all_axes(dims, x.ndim), _typed(x, dtype)
    return np.divide(np.sum(x, axis=axes, keepdims=keepdim), x.dtype.type(count(x, axes)))


@lowering("aten.amax.default")
def amax(x: Array, dims: Dims, keepdim: bool = False) -> Array:
    """The largest element; NaN wins."""
    return np.asarray(np.max(x, axis=all_axes(dims, x.ndim), keepdims=keepdim))


@lowering("aten.amin.default")
def amin(x: Array, dims: Dims, keepdim: bool = False) -> Array:
    """The smallest element; NaN wins."""
    return np.asarray(np.min(x, axis=all_axes(dims, x.ndim), keepdims=keepdim))


@lowering("aten.max.default")
def max_all(x: Array) -> Array:
    """The largest of all elements; NaN wins."""
    return np.asarray(np.max(x))


@lowering("aten.min.default")
def min_all(x: Array) -> Array:
    """The smallest of all elements; NaN wins."""
    return np.asarray(np.min(x))


def _position(find: Any, x: Array, dim: int | None, keepdim: bool) -> Array:
    """The first index of the extreme along a dimension, or in the flattened tensor; NaN counts as the extreme."""
    if dim is None or x.ndim == 0:
        index = np.asarray(find(x.reshape(-1)))
        return index.reshape((1,) * x.ndim) if keepdim else index
    return np.asarray(find(x, axis=axis(dim, x.ndim), keepdims=keepdim))


@lowering("aten.argmax.default")
def argmax(x: Array, dim: int | None, keepdim: bool) -> Array:
    """The first index of the largest element; NaN counts as the largest."""
    return _position(np.argmax, x, dim, keepdim)


@lowering("aten.argmin.default")
def argmin(x: Array, dim: int | None, keepdim: bool) -> Array:
    """The first index of the smallest element; NaN counts as the smallest."""
    return _position(np.argmin, x, dim, keepdim)


def _extreme(find: Any, x: Array, dim: int, keepdim: bool) -> tuple[Array, Array]:
    along = line(x)
    index = find(along, axis=axis(dim, x.ndim), keepdims=True)
    values = np.take_along_axis(along, index, axis=axis(dim, x.ndim))
    if keepdim and x.ndim:
        return values, index
    return values.squeeze(axis(dim, x.ndim)), index.squeeze(axis(dim, x.ndim))


@lowering("aten.max.dim")
def max_along(x: Array, dim: int, keepdim: bool = False) -> tuple[Array, Array]:
    """The largest elements along a dimension and their first indices."""
    return _extreme(np.argmax, x, dim, keepdim)


@lowering("aten.min.dim")
def min_along(x: Array, dim: int, keepdim: bool = False) -> tuple[Array, Array]:
    """The smallest elements along a dimension and their first indices."""
    return _extreme(np.argmin, x, dim, keepdim)


@lowering("aten.any.default", "aten.any.dim", "aten.any.dims")
def any_true(x: Array, dims: Dims = None, keepdim: bool = False) -> Array:
    """Whether an element is not zero; NaN is not zero."""
    return np.asarray(np.any(x, axis=all_axes(dims, x.ndim), keepdims=keepdim))


@lowering("aten.all.default", "aten.all.dim", "aten.all.dims")
def all_true(x: Array, dims: Dims = None, keepdim: bool = False) -> Array:
    """Whether no element is zero."""
    return np.asarray(np.all(x, axis=all_axes(dims, x.ndim), keepdims=keepdim))


@lowering("aten.count_nonzero.dim_IntList")
def count_nonzero(x: Array, dims: Dims) -> Array:
    """How many elements are not zero."""
    return np.asarray(np.count_nonzero(x, axis=all_axes(dims, x.ndim)))


def moments(x: Array, axes: tuple[int, ...], correction: float = 0) -> tuple[Array, Array]:
    """Mean and variance, axes kept; the sum of squares is divided by the count less the correction. The variance of
    complex numbers is real."""
    size = count(x, axes)
    center = np.sum(x, axis=axes, keepdims=True) / x.dtype.type(size)
    distances = x - center
    products = np.real(distances * np.conj(distances)) if np.iscomplexobj(x) else np.square(distances)
    squares = np.sum(products, axis=axes, keepdims=True)
    return center, squares / squares.dtype.type(max(size - correction, 0))


def _without(x: Array, axes: tuple[int, ...], keepdim: bool) -> Array:
    return x if keepdim else x.squeeze(axes)


@lowering("aten.var_mean.correction")
def var_mean(x: Array, dims: Dims, *, correction: float | None, keepdim: bool) -> tuple[Array, Array]:
    """Variance and mean; the correction defaults to 1."""
    axes = all_axes(dims, x.ndim)
    center, variance = moments(x, axes, 1 if correction is None else correction)
    return _without(variance, axes, keepdim), _without(center, axes, keepdim)


@lowering("aten.var.correction")
def var(x: Array, dims: Dims, *, correction: float | None, keepdim: bool) -> Array:
    """The variance."""
    return var_mean(x, dims, correction=correction, keepdim=keepdim)[0]


@lowering("aten.std.correction")
def std(x: Array, dims: Dims, *, correction: float | None, keepdim: bool) -> Array:
    """The standard deviation."""
    return np.sqrt(var(x, dims, correction=correction, keepdim=keepdim))


@lowering("aten.logsumexp.default")
def logsumexp(x: Array, dims: Dims, keepdim: bool) -> Array:
    """log(sum(exp(x))), shifted by the largest element where that is finite."""
    axes = all_axes(dims, x.ndim)
    if count(x, axes) == 0:
        return np.log(np.sum(x, axis=axes, keepdims=keepdim))
    peak = np.max(x, axis=axes, keepdims=True)
    shift = np.where(np.isinf(peak), np.zeros_like(peak), peak)
    return _without(np.asarray(np.log(np.sum(np.exp(x - shift), axis=axes, keepdims=True)) + shift), axes, keepdim)


def _unliterate(node: Node) -> str | None:
    return (
        None
        if isinstance(node.args[1], (int, float, type(None)))
        else f"{node.op} with an order known only at run time"
    )


def _norm(x: Array, order: float, axes: tuple[int, ...], keepdim: bool) -> Array:
    size = np.abs(x)
    if order == math.inf:
        return np.asarray(np.max(size, axis=axes, keepdims=keepdim))
    if order == -math.inf:
        return np.asarray(np.min(size, axis=axes, keepdims=keepdim))
    if order == 0:
        return np.asarray(np.sum(size != 0, axis=axes, keepdims=keepdim))
    if order == 1:
        return np.asarray(np.sum(size, axis=axes, keepdims=keepdim))
    if order == 2:
        return np.sqrt(np.sum(size * size, axis=axes, keepdims=keepdim))
    return np.power(np.sum(np.power(size, order), axis=axes, keepdims=keepdim), 1 / order)


@lowering("aten.linalg_vector_norm.default", objection=_unliterate)
def vector_norm(x: Array, order: float, dims: Dims, keepdim: bool, *, dtype: DType | None) -> Array:
    """The norm of the given order: sum of powers, or largest, smallest, number of non-zeros for inf, -inf, 0."""
    return _norm(_typed(x, dtype), order, all_axes(dims, x.ndim), keepdim)


@lowering("aten.norm.Scalar", objection=_unliterate)
def norm(x: Array, order: float | None) -> Array:
    """The norm of all elements."""
    return _norm(x, 2 if order is None else order, all_axes(None, x.ndim), False)


@lowering("aten.norm.ScalarOpt_dim", objection=_unliterate)
def norm_along(x: Array, order: float | None, dims: Dims, keepdim: bool) -> Array:
    """The norm along dimensions."""
    return _norm(x, 2 if order is None else order, all_axes(dims, x.ndim), keepdim)


@lowering("aten.cumsum.default")
def cumsum(x: Array, dim: int, *, dtype: DType | None) -> Array:
    """Running sums along a dimension; of integers and booleans, int64."""
    return np.cumsum(line(_typed(x, dtype)), axis=axis(dim, x.ndim)).reshape(x.shape)


@lowering("aten.cumprod.default")
def cumprod(x: Array, dim: int, *, dtype: DType | None) -> Array:
    """Running products along a dimension; of integers and booleans, int64."""
    return np.cumprod(line(_typed(x, dtype)), axis=axis(dim, x.ndim)).reshape(x.shape)
