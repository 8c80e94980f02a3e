"""Reductions of arrays inside of a kernel. Sums of floats run in double precision: a plain loop in single precision
loses what the CPU's pairwise sums keep, and takes as long."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from lazycore_plugin_api import DType

from lazycore_tvm.arrays import Array, elementwise, widened
from lazycore_tvm.kernels import BY_COLUMN
from lazycore_tvm.operands import count
from lazycore_tvm.scalars import Expr, at_most, cast, is_nan, like, literal, select, sub, type_of
from lazycore_tvm.tvm_runtime import tvm

__all__ = ["extreme", "in_lanes", "kept", "mean", "moments", "product", "reduced", "total"]

te, tir = tvm.te, tvm.tirx

# Sixteen doubles are two of the widest registers there are.
_LANES = 16


def reduced(
    x: Array, axes: Sequence[int], reducer: Any, dtype: DType, value: Callable[..., Expr] | None = None
) -> Array:
    """x combined over axes, which stay with size 1. ``value`` makes the terms of an element and its position along
    the axes; the result has the terms' type, which is the compute type of ``dtype``."""
    value = value or (lambda element, *_: element)
    shape = kept(x.shape, axes)
    if not axes:
        return Array(shape, dtype, lambda *i: value(x.at(*i)), None, x.cost + 1)
    steps = {a: te.reduce_axis((0, x.shape[a]), name=f"k{a}") for a in axes}
    others = [d for d in range(x.ndim) if d not in steps]

    def terms(*i: Expr) -> Expr:
        places = dict(zip(others, i, strict=False))
        full = [steps[d] if d in steps else places[d] for d in range(x.ndim)]
        return reducer(value(x.at(*full), *steps.values()), axis=list(steps.values()))

    name = BY_COLUMN if others and others[-1] > max(axes) else "reduced"
    tensor = te.compute(tuple(x.shape[d] for d in others) or (1,), terms, name=name)

    def at(*i: Expr) -> Expr:
        return tensor(*([i[d] for d in others] or [0]))

    return Array(shape, dtype, at, None, x.cost + 1)


def in_lanes(
    x: Array, axes: Sequence[int], reducer: Any, dtype: DType, value: Callable[[Expr], Expr] | None = None
) -> Array:
    """``reduced``, for reducers that may take terms in any order: long rows as columns of a narrow matrix first, which
    is a loop that vectorizes, then those to one number."""
    first, inner = min(axes, default=0), count(x.shape, axes)
    trailing = tuple(axes) == tuple(range(first, x.ndim)) and (len(axes) == 1 or x.flat is not None)
    if not trailing or inner < 4 * _LANES or inner % _LANES:
        return reduced(x, axes, reducer, dtype, value and (lambda v, *_: value(v)))
    rows = x.reshaped((*x.shape[:first], inner))
    shape = (*x.shape[:first], inner // _LANES, _LANES)
    narrow = replace(rows.moved(shape, lambda *i: rows.at(*i[:-2], i[-2] * _LANES + i[-1])), memory=None)
    columns = reduced(narrow, (first,), reducer, dtype, value and (lambda v, *_: value(v)))
    return reduced(columns, (first + 1,), reducer, dtype).reshaped(kept(x.shape, axes))


def kept(shape: Sequence[int], axes: Sequence[int]) -> tuple[int, ...]:
    """The shape after a reduction that keeps its axes with size 1."""
    return tuple(1 if d in axes else n for d, n in enumerate(shape))


def total(x: Array, axes: Sequence[int]) -> Array:
    """The sum, in the compute type of x: of integers, int64."""
    wide = widened(x)
    if not x.dtype.is_floating:
        return in_lanes(wide, axes, te.sum, DType.int64, lambda v: cast(v, wide.dtype, DType.int64))
    double = in_lanes(wide, axes, te.sum, DType.float64, lambda v: cast(v, wide.dtype, DType.float64))
    return elementwise(lambda v: cast(v, DType.float64, wide.dtype), double, dtype=wide.dtype)


def mean(x: Array, axes: Sequence[int]) -> Array:
    """The mean, in the compute type of x."""
    size = count(x.shape, axes)
    return elementwise(lambda v: v / like(size, v), total(x, axes), dtype=widened(x).dtype)


def moments(x: Array, axes: Sequence[int], correction: float = 0) -> tuple[Array, Array]:
    """Mean and variance: the sum of squares is divided by the count less the correction."""
    wide = widened(x)
    center = mean(wide, axes)
    squares = total(elementwise(_square_of_difference, wide, center, dtype=wide.dtype), axes)
    size = max(count(x.shape, axes) - correction, 0)
    return center, elementwise(lambda v: v / like(size, v), squares, dtype=wide.dtype)


def _square_of_difference(x: Expr, center: Expr) -> Expr:
    return sub(x, center) * sub(x, center)


def _lowest(kind: str) -> Expr:
    dtype = DType(kind)
    return literal(-np.inf if dtype.is_floating else np.iinfo(kind).min, dtype)


def _highest(kind: str) -> Expr:
    dtype = DType(kind)
    return literal(np.inf if dtype.is_floating else np.iinfo(kind).max, dtype)


def _combiner(combine: Callable[[Expr, Expr], Expr], identity: Callable[[str], Expr]) -> Any:
    """A reducer whose new term is named once: it may be a long expression."""

    def step(old: Expr, new: Expr) -> Expr:
        name = tir.Var("new", type_of(new))
        return tir.Let(name, new, combine(old, name))

    return te.comm_reducer(step, lambda kind: identity(str(kind)), name="combined")


def _larger(old: Expr, new: Expr) -> Expr:
    return select(tir.any(at_most(new, old), is_nan(old)), old, new)


def _smaller(old: Expr, new: Expr) -> Expr:
    return select(tir.any(at_most(old, new), is_nan(old)), old, new)


def extreme(x: Array, axes: Sequence[int], largest_wins: bool) -> Array:
    """The largest or smallest element, in the compute type of x (uint8 of booleans); NaN wins, then the first."""
    reducer = _combiner(_larger, _lowest) if largest_wins else _combiner(_smaller, _highest)
    if x.dtype is DType.bool:
        return in_lanes(x, axes, reducer, DType.uint8, lambda v: tir.Cast("uint8", v))
    return in_lanes(widened(x), axes, reducer, widened(x).dtype)


def product(x: Array, axes: Sequence[int]) -> Array:
    """The product, in the compute type of x: of integers, int64."""
    wide = widened(x)
    reducer = te.comm_reducer(lambda a, b: a * b, lambda kind: tir.const(1, kind), name="product")
    if x.dtype.is_floating:
        return reduced(wide, axes, reducer, wide.dtype)
    return reduced(wide, axes, reducer, DType.int64, lambda v, *_: cast(v, wide.dtype, DType.int64))
