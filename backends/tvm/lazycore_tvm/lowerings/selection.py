"""Choosing and blending, element by element: where, clamp, masked fill, multiply-add."""

from __future__ import annotations

from typing import Any

from lazycore_tvm.arrays import Array, elementwise
from lazycore_tvm.operands import number
from lazycore_tvm.registry import ANY, BOOL, FLOATS, REAL, lowering
from lazycore_tvm.scalars import Expr, at_most, largest, like, select, smallest, sub, type_of
from lazycore_tvm.tvm_runtime import tvm

tir = tvm.tirx


def _chosen(condition: Expr, x: Expr, other: Expr) -> Expr:
    if type_of(x) == "bool":
        return tir.any(tir.all(condition, x), tir.all(tir.Not(condition), other))
    return select(condition, x, other)


@lowering("where.self", dtypes=ANY)
def where(condition: Array, x: Array, other: Array) -> Array:
    """x where the condition holds, else other."""

    def at(c: Expr, a: Expr, b: Expr) -> Expr:
        return _chosen(c if type_of(c) == "bool" else tir.NE(c, like(0, c)), a, b)

    return elementwise(at, condition, x, other, dtype=x.dtype)


@lowering("masked_fill.Scalar", "masked_fill.Tensor")
def masked_fill(x: Array, mask: Array, value: Any) -> Array:
    """value where the mask holds, else x."""
    return elementwise(_chosen, mask, number(value, x), x, dtype=x.dtype)


@lowering("clamp", "clamp.Tensor", "hardtanh", dtypes=REAL - BOOL)
def clamp(x: Array, low: Any = None, high: Any = None) -> Array:
    """min(max(x, low), high): NaN in any operand wins, the upper bound wins over the lower."""
    result = x
    if low is not None:
        result = elementwise(largest, result, number(low, x) if _is_number(low) else low, dtype=x.dtype)
    if high is not None:
        result = elementwise(smallest, result, number(high, x) if _is_number(high) else high, dtype=x.dtype)
    return result


def _is_number(value: Any) -> bool:
    return not isinstance(value, Array) or value.ndim == 0


@lowering("clamp_min", "clamp_min.Tensor", dtypes=REAL - BOOL)
def clamp_min(x: Array, low: Any) -> Array:
    """max(x, low)."""
    return clamp(x, low)


@lowering("clamp_max", "clamp_max.Tensor", dtypes=REAL - BOOL)
def clamp_max(x: Array, high: Any) -> Array:
    """min(x, high)."""
    return clamp(x, None, high)


@lowering("addcmul", dtypes=REAL - BOOL, wraps=True)
def addcmul(x: Array, first: Array, second: Array, *, value: Any = 1) -> Array:
    """x + value * first * second."""
    return elementwise(lambda a, b, c, v: a + v * b * c, x, first, second, number(value, x), dtype=x.dtype)


@lowering("addcdiv", dtypes=FLOATS)
def addcdiv(x: Array, first: Array, second: Array, *, value: Any = 1) -> Array:
    """x + value * first / second."""
    return elementwise(lambda a, b, c, v: a + v * b / c, x, first, second, number(value, x), dtype=x.dtype)


def _lerp(start: Expr, end: Expr, weight: Expr) -> Expr:
    span = sub(end, start)
    near, far = start + weight * span, sub(end, span * sub(like(1, weight), weight))
    return select(tir.abs(weight) < like(0.5, weight), near, far)


@lowering("lerp.Scalar", "lerp.Tensor", dtypes=FLOATS)
def lerp(start: Array, end: Array, weight: Any) -> Array:
    """start + weight * (end - start), reckoned from the nearer end."""
    share = number(weight, start) if _is_number(weight) else weight
    return elementwise(_lerp, start, end, share, dtype=start.dtype)


@lowering("threshold", dtypes=REAL - BOOL)
def threshold(x: Array, limit: Any, value: Any) -> Array:
    """value where x <= limit, else x (NaN kept)."""
    bounds = number(limit, x), number(value, x)
    return elementwise(lambda a, bound, other: select(at_most(a, bound), other, a), x, *bounds, dtype=x.dtype)
