"""What lowerings do with their arguments: dimensions, numbers, and the shapes of reductions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from lazycore_plugin_api import DType

from lazycore_tvm.arrays import Array, elementwise
from lazycore_tvm.scalars import Expr, cast, compute_type, literal, type_of
from lazycore_tvm.tvm_runtime import tvm

__all__ = ["all_axes", "axis", "converted", "count", "is_one", "less", "number", "zero"]

zero = tvm.tirx.const(0, "int32")


def axis(dim: int, ndim: int) -> int:
    """A dimension as a non-negative number; of a 0-d tensor, 0."""
    return dim % max(ndim, 1)


def all_axes(dims: int | Sequence[int] | None, ndim: int) -> tuple[int, ...]:
    """The dimensions a reduction runs over, in order: None and an empty list mean all."""
    if isinstance(dims, int):
        dims = (dims,)
    if not dims or ndim == 0:
        return tuple(range(ndim))
    return tuple(sorted(axis(d, ndim) for d in dims))


def number(value: Any, like: Array) -> Array:
    """A Scalar argument as a 0-d array in the type that the operand beside it is computed in."""
    if isinstance(value, Array):
        return Array((), like.dtype, lambda: _computed(value.at(), like.dtype), None, value.cost)
    expression = literal(value, like.dtype)
    return Array((), like.dtype, lambda: expression, lambda _: expression)


def _computed(expression: Expr, dtype: DType) -> Expr:
    kind = compute_type(dtype)
    return expression if type_of(expression) == kind else cast(expression, DType(type_of(expression)), DType(kind))


def converted(x: Array, dtype: DType | None) -> Array:
    """x in another dtype, or as it is for None."""
    if dtype is None or dtype is x.dtype:
        return x
    return elementwise(lambda v: cast(v, x.dtype, dtype), x, dtype=dtype)


def is_one(value: Any) -> bool:
    """Whether a factor is the literal 1."""
    return isinstance(value, (int, float)) and value == 1


def less(size: Any, correction: float) -> Any:
    """A size less a correction, but not below 0: a number, or an expression in double precision."""
    if isinstance(size, int):
        return max(size - correction, 0)
    wide = literal(size, DType.float64) + literal(-correction, DType.float64)
    return size if correction == 0 else tvm.tirx.max(wide, literal(0, DType.float64))


def count(shape: Sequence[int], axes: Sequence[int]) -> int:
    """Number of elements that a reduction over the axes combines."""
    return math.prod(shape[a] for a in axes)
