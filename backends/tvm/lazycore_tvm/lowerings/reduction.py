"""Reductions. Dimensions: None and an empty list mean all; a 0-d tensor has the dimension 0."""

# Signatures are ATen's, also where an argument does not matter here.
# ruff: noqa: ARG001

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, TypeAlias

from lazycore_plugin_api import DType, Node, TensorSpec

from lazycore_tvm.arrays import Array, elementwise, ravel, staged, widened
from lazycore_tvm.operands import all_axes, axis, converted
from lazycore_tvm.reductions import MINIMUM, extreme, mean, moments, product, reduced, total
from lazycore_tvm.registry import FLOATS, Kind, lowering
from lazycore_tvm.scalars import Expr, call, cast, differs, equal, is_nan, like, select, sub
from lazycore_tvm.sizes import long
from lazycore_tvm.tvm_runtime import tvm

tir = tvm.tirx
Dims: TypeAlias = int | Sequence[int] | None
Out: TypeAlias = list[TensorSpec]


def finished(x: Array, spec: TensorSpec) -> Array:
    """A reduction's result in its declared dtype and shape."""
    wide = widened(x)
    result = elementwise(lambda v: cast(v, wide.dtype, spec.dtype), wide, dtype=spec.dtype)
    return result.reshaped(spec.shape)


def _typed(x: Array, dtype: DType | None) -> Array:
    """The operand in the dtype asked for; 16-bit floats are accumulated in float32."""
    return x if dtype is None or (dtype.is_floating and dtype.itemsize < 4) else converted(x, dtype)


@lowering("sum", "sum.dim_IntList", kind=Kind.kernel, needs_out=True)
def sum_(x: Array, dims: Dims = None, keepdim: bool = False, *, dtype: DType | None = None, out: Out) -> Array:
    """The sum; of integers and booleans, an int64."""
    return finished(total(_typed(x, dtype), all_axes(dims, x.ndim)), out[0])


@lowering("prod", kind=Kind.kernel, needs_out=True)
def prod(x: Array, *, dtype: DType | None = None, out: Out) -> Array:
    """The product of all elements; of integers and booleans, an int64."""
    return finished(product(_typed(x, dtype), all_axes(None, x.ndim)), out[0])


@lowering("prod.dim_int", kind=Kind.kernel, needs_out=True)
def prod_along(x: Array, dim: int, keepdim: bool = False, *, dtype: DType | None = None, out: Out) -> Array:
    """The product along a dimension."""
    return finished(product(_typed(x, dtype), all_axes(dim, x.ndim)), out[0])


@lowering("mean", "mean.dim", kind=Kind.kernel, needs_out=True)
def mean_(x: Array, dims: Dims = None, keepdim: bool = False, *, dtype: DType | None = None, out: Out) -> Array:
    """The mean."""
    return finished(mean(_typed(x, dtype), all_axes(dims, x.ndim)), out[0])


def _largest(x: Array, dims: Dims = None, keepdim: bool = False, *, out: Out) -> Array:
    return finished(extreme(x, all_axes(dims, x.ndim), True), out[0])


def _smallest(x: Array, dims: Dims = None, keepdim: bool = False, *, out: Out) -> Array:
    return finished(extreme(x, all_axes(dims, x.ndim), False), out[0])


lowering("amax", "max", kind=Kind.kernel, needs_out=True)(_largest)
lowering("amin", "min", kind=Kind.kernel, needs_out=True)(_smallest)


def _first(x: Array, axes: Sequence[int], largest_wins: bool) -> tuple[Array, Array]:
    """The extreme and the first position of it along the axes, flattened; NaN counts as the extreme."""
    best = staged(extreme(x, axes, largest_wins))
    sizes = tuple(x.shape[a] for a in axes)
    none = math.prod(sizes)
    wide = widened(x)

    def hit(element: Expr, peak: Expr) -> Expr:
        value = tir.Cast("uint8", element) if x.dtype is DType.bool else element
        return tir.any(equal(value, peak), tir.all(is_nan(value), is_nan(peak)))

    hits = elementwise(hit, wide, best, dtype=DType.bool)

    def place(found: Expr, *steps: Expr) -> Expr:
        return select(found, tir.Cast("int64", ravel(steps, sizes)), long(none))

    if not axes:
        zero = Array(best.shape, DType.int64, lambda *_: tir.const(0, "int64"), None, 1)
        return best, zero
    return best, reduced(hits, axes, MINIMUM, DType.int64, place)


def _argument(largest_wins: bool) -> Any:
    def position(x: Array, dim: int | None, keepdim: bool, *, out: Out) -> Array:
        return finished(_first(x, all_axes(dim, x.ndim), largest_wins)[1], out[0])

    return position


def _along(largest_wins: bool) -> Any:
    def both(x: Array, dim: int, keepdim: bool = False, *, out: Out) -> tuple[Array, Array]:
        best, place = _first(x, all_axes(axis(dim, x.ndim), x.ndim), largest_wins)
        return finished(best, out[0]), finished(place, out[1])

    return both


lowering("argmax", kind=Kind.kernel, needs_out=True, rereads=True)(_argument(True))
lowering("argmin", kind=Kind.kernel, needs_out=True, rereads=True)(_argument(False))
lowering("max.dim", kind=Kind.kernel, needs_out=True, rereads=True)(_along(True))
lowering("min.dim", kind=Kind.kernel, needs_out=True, rereads=True)(_along(False))


def _truths(x: Array) -> Array:
    at = lambda v: v if x.dtype is DType.bool else differs(v, like(0, v))  # noqa: E731
    return elementwise(at, x, dtype=DType.bool)


@lowering("any", "any.dim", "any.dims", kind=Kind.kernel, needs_out=True)
def any_true(x: Array, dims: Dims = None, keepdim: bool = False, *, out: Out) -> Array:
    """Whether an element is not zero; NaN is not zero."""
    return finished(extreme(_truths(x), all_axes(dims, x.ndim), True), out[0])


@lowering("all", "all.dim", "all.dims", kind=Kind.kernel, needs_out=True)
def all_true(x: Array, dims: Dims = None, keepdim: bool = False, *, out: Out) -> Array:
    """Whether no element is zero."""
    return finished(extreme(_truths(x), all_axes(dims, x.ndim), False), out[0])


@lowering("count_nonzero.dim_IntList", kind=Kind.kernel, needs_out=True)
def count_nonzero(x: Array, dims: Dims, *, out: Out) -> Array:
    """How many elements are not zero."""
    return finished(total(_truths(x), all_axes(dims, x.ndim)), out[0])


@lowering("var_mean.correction", kind=Kind.kernel, dtypes=FLOATS, needs_out=True, rereads=True)
def var_mean(x: Array, dims: Dims, *, correction: float | None, keepdim: bool, out: Out) -> tuple[Array, Array]:
    """Variance and mean; the correction defaults to 1."""
    center, variance = moments(x, all_axes(dims, x.ndim), 1 if correction is None else correction)
    return finished(variance, out[0]), finished(center, out[1])


@lowering("var.correction", kind=Kind.kernel, dtypes=FLOATS, needs_out=True, rereads=True)
def var(x: Array, dims: Dims, *, correction: float | None, keepdim: bool, out: Out) -> Array:
    """The variance."""
    return finished(moments(x, all_axes(dims, x.ndim), 1 if correction is None else correction)[1], out[0])


@lowering("std.correction", kind=Kind.kernel, dtypes=FLOATS, needs_out=True, rereads=True)
def std(x: Array, dims: Dims, *, correction: float | None, keepdim: bool, out: Out) -> Array:
    """The standard deviation."""
    variance = moments(x, all_axes(dims, x.ndim), 1 if correction is None else correction)[1]
    return finished(elementwise(tir.sqrt, variance, dtype=variance.dtype), out[0])


@lowering("logsumexp", kind=Kind.kernel, dtypes=FLOATS, needs_out=True, rereads=True)
def logsumexp(x: Array, dims: Dims, keepdim: bool, *, out: Out) -> Array:
    """log(sum(exp(x))), shifted by the largest element where that is finite."""
    axes, wide = all_axes(dims, x.ndim), widened(x)
    peak = extreme(wide, axes, True)
    finite = lambda v: select(equal(tir.abs(v), like(math.inf, v)), like(0, v), v)  # noqa: E731
    shift = staged(elementwise(finite, peak, dtype=wide.dtype))
    shifted = elementwise(lambda v, s: call("exp", sub(v, s)), wide, shift, dtype=wide.dtype)
    result = elementwise(lambda v, s: call("log", v) + s, total(shifted, axes), shift, dtype=wide.dtype)
    return finished(result, out[0])


def _run_time_order(node: Node) -> str | None:
    return None if isinstance(node.args[1], (int, float, type(None))) else "an order known only at run time"


def _norm(x: Array, order: float, axes: Sequence[int]) -> Array:
    wide = widened(x)
    size = elementwise(tir.abs, wide, dtype=wide.dtype)
    if math.isinf(order):
        return extreme(size, axes, order > 0)
    if order == 0:
        return total(
            elementwise(lambda v: cast(differs(v, like(0, v)), DType.bool, wide.dtype), wide, dtype=wide.dtype), axes
        )
    if order == 1:
        return total(size, axes)
    if order == 2:
        squares = total(elementwise(lambda v: v * v, wide, dtype=wide.dtype), axes)
        return elementwise(tir.sqrt, squares, dtype=wide.dtype)
    powers = total(elementwise(lambda v: call("pow", v, like(order, v)), size, dtype=wide.dtype), axes)
    return elementwise(lambda v: call("pow", v, like(1 / order, v)), powers, dtype=wide.dtype)


@lowering("linalg_vector_norm", kind=Kind.kernel, dtypes=FLOATS, needs_out=True, check=_run_time_order)
def vector_norm(x: Array, order: float, dims: Dims, keepdim: bool, *, dtype: DType | None, out: Out) -> Array:
    """The norm of the given order: sum of powers, or largest, smallest, number of non-zeros for inf, -inf, 0."""
    return finished(_norm(_typed(x, dtype), order, all_axes(dims, x.ndim)), out[0])


@lowering("norm.Scalar", kind=Kind.kernel, dtypes=FLOATS, needs_out=True, check=_run_time_order)
def norm(x: Array, order: float | None, *, out: Out) -> Array:
    """The norm of all elements."""
    return finished(_norm(x, 2 if order is None else order, all_axes(None, x.ndim)), out[0])


@lowering("norm.ScalarOpt_dim", kind=Kind.kernel, dtypes=FLOATS, needs_out=True, check=_run_time_order)
def norm_along(x: Array, order: float | None, dims: Dims, keepdim: bool, *, out: Out) -> Array:
    """The norm along dimensions."""
    return finished(_norm(x, 2 if order is None else order, all_axes(dims, x.ndim)), out[0])
