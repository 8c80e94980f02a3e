"""Expressions of one element: how each dtype is stored and computed, and arithmetic that TVM's simplifier leaves alone.

TVM simplifies floats as if they were real numbers: ``x - x``, ``x * 0``, ``x + 0`` and ``x != x`` lose NaN, infinities
and the sign of zero. It has no whole boolean arithmetic, and drops the rounding to bfloat16 between two casts. So
16-bit floats are stored as their bits and computed in float32, booleans are stored as bytes, numbers are written as
bit patterns, and comparisons of floats name NaN.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from lazycore_plugin_api import DType

from lazycore_tvm.functions import VECTORIZED
from lazycore_tvm.loops import named
from lazycore_tvm.sizes import Size, extent
from lazycore_tvm.tvm_runtime import tvm

__all__ = [
    "HALVES", "Expr", "at_most", "bind", "call", "cast", "compute_type", "differs", "equal", "is_floating", "is_nan",
    "largest", "like", "literal", "load", "negative", "rounded", "select", "smallest", "storage_type", "store", "sub",
    "type_of",
]  # fmt: skip

tir = tvm.tirx
Expr: TypeAlias = Any

HALVES = frozenset({DType.float16, DType.bfloat16})
_STORED = {DType.bool: "uint8", DType.float16: "uint16", DType.bfloat16: "uint16"}
_BITS = {"float32": ("int32", np.int32), "float64": ("int64", np.int64)}


def type_of(expression: Expr) -> str:
    """The TVM type of an expression."""
    return str(expression.ty)


def storage_type(dtype: DType) -> str:
    """The TVM type of a tensor's elements in memory."""
    return _STORED.get(dtype, dtype.value)


def compute_type(dtype: DType) -> str:
    """The TVM type in which expressions of the dtype are."""
    return "float32" if dtype in HALVES else dtype.value


def literal(value: Any, dtype: DType) -> Expr:
    """A number, or a size that varies, in the dtype's compute type; integers wrap around."""
    kind = compute_type(dtype)
    if isinstance(value, Size):
        return tir.const(True, kind) if dtype is DType.bool else tir.Cast(kind, extent(value))
    if kind in _BITS:
        with np.errstate(all="ignore"):
            return _float(float(np.asarray(value).astype(kind)), kind)
    if dtype is DType.bool:
        return tir.const(bool(value), kind)
    return tir.const(int(np.asarray(int(value)).astype(dtype.numpy)), kind)


def like(value: Any, expression: Expr) -> Expr:
    """A number, a size that varies, or another expression in the type of an expression."""
    if isinstance(value, tvm.ir.Expr):
        return tir.Cast(type_of(expression), value)
    return literal(value, DType(type_of(expression)))


def _float(value: float, kind: str) -> Expr:
    if value == 0:
        # LLVM's builder has no zero made of zero bits, and a plain zero would be simplified away with its factor.
        zero = _pattern(-0.0, kind)
        return zero if math.copysign(1, value) < 0 else zero * _pattern(-1.0, kind)
    return _pattern(value, kind)


def _pattern(value: float, kind: str) -> Expr:
    name, integer = _BITS[kind]
    return tir.reinterpret(kind, tir.const(int(np.asarray(value, kind).view(integer)), name))


def bind(value: Expr, use: Callable[[Expr], Expr]) -> Expr:
    """``use`` of a value that is computed once, however often the result names it."""
    return use(named(value))


def load(stored: Expr, dtype: DType) -> Expr:
    """What is in memory, as an expression to compute with."""
    if dtype is DType.bool:
        return tir.NE(stored, tir.const(0, "uint8"))
    if dtype is DType.float16:
        return tir.Cast("float32", tir.reinterpret("float16", stored))
    if dtype is DType.bfloat16:
        return tir.reinterpret("float32", tir.Cast("uint32", stored) << tir.const(16, "uint32"))
    return stored


def store(value: Expr, dtype: DType) -> Expr:
    """A computed expression as it is kept in memory, rounded once."""
    if dtype is DType.bool:
        return tir.Cast("uint8", value)
    if dtype is DType.float16:
        return tir.reinterpret("uint16", tir.Cast("float16", value))
    return _bfloat16_bits(value) if dtype is DType.bfloat16 else value


def _bfloat16_bits(value: Expr) -> Expr:
    return bind(value, _nearest_bfloat16)


def _nearest_bfloat16(value: Expr) -> Expr:
    bits, one, half = tir.reinterpret("uint32", value), tir.const(1, "uint32"), tir.const(16, "uint32")
    even = (bits >> half) & one
    up = (bits + tir.const(0x7FFF, "uint32") + even) >> half
    return tir.Cast("uint16", select(is_nan(value), tir.const(0x7FC0, "uint32"), up))


def rounded(value: Expr, dtype: DType) -> Expr:
    """A computed expression as it would be read back from memory."""
    return bind(value, lambda named: load(store(named, dtype), dtype)) if dtype in HALVES else value


def select(condition: Expr, yes: Expr, no: Expr) -> Expr:
    """One of two expressions, both of which may be computed."""
    return tir.Select(condition, yes, no)


def is_floating(value: Expr) -> bool:
    """Whether an expression is a float."""
    return type_of(value).startswith("float")


def is_nan(value: Expr) -> Expr:
    """Whether a float is NaN; false of others."""
    return tir.isnan(value) if is_floating(value) else tir.const(False, "bool")


def sub(x: Expr, y: Expr) -> Expr:
    """x - y; of floats as x + -y, since x - x is taken to be 0."""
    return x + negative(y) if is_floating(x) else x - y


def negative(x: Expr) -> Expr:
    """-x."""
    if is_floating(x):
        return x * _pattern(-1.0, type_of(x))
    return tir.const(0, type_of(x)) - x


def differs(x: Expr, y: Expr) -> Expr:
    """x != y; NaN differs from all."""
    if is_floating(x):
        return tir.any(x < y, y < x, is_nan(x), is_nan(y))
    return tir.any(tir.all(x, tir.Not(y)), tir.all(y, tir.Not(x))) if type_of(x) == "bool" else tir.NE(x, y)


def at_most(x: Expr, y: Expr) -> Expr:
    """x <= y; false of NaN. Floats are compared by ``<`` alone: where that does not hold, TVM takes ``>=`` for true."""
    if is_floating(x):
        return tir.Not(tir.any(y < x, is_nan(x), is_nan(y)))
    return tir.any(tir.Not(x), y) if type_of(x) == "bool" else x <= y


def equal(x: Expr, y: Expr) -> Expr:
    """x == y; NaN equals nothing."""
    return tir.Not(differs(x, y))


def largest(x: Expr, y: Expr) -> Expr:
    """The larger of two; NaN wins."""
    if type_of(x) == "bool":
        return tir.any(x, y)
    return select(tir.any(x > y, is_nan(x)), x, y)


def smallest(x: Expr, y: Expr) -> Expr:
    """The smaller of two; NaN wins."""
    if type_of(x) == "bool":
        return tir.all(x, y)
    return select(tir.any(x < y, is_nan(x)), x, y)


def call(name: str, *operands: Expr) -> Expr:
    """A function of the C library, in the operands' width, or our own which vectorizes. Some of TVM's lose small
    numbers, others are missing."""
    kind = type_of(operands[0])
    if kind == "float32" and name in VECTORIZED:
        return VECTORIZED[name](named(operands[0]))
    return tir.call_pure_extern(kind, name + "f" if kind == "float32" else name, *operands)


def cast(value: Expr, source: DType, to: DType) -> Expr:
    """An element in another dtype: rounded to even, integers and numbers out of range wrapped, anything but 0 true."""
    return value if source is to else bind(value, lambda named: _converted(named, source, to))


def _converted(value: Expr, source: DType, to: DType) -> Expr:
    if to is DType.bool:
        return differs(value, literal(0, source))
    if source.is_floating and to.is_integral:
        return _whole(value, to)
    kind = compute_type(to)
    return rounded(value if type_of(value) == kind else tir.Cast(kind, value), to)


def _whole(value: Expr, to: DType) -> Expr:
    # A conversion out of range has no defined result in LLVM; on x86 it is the smallest number.
    if to in (DType.int32, DType.int64):
        return _in_range(value, to)
    wide = DType.int32 if to.itemsize < 4 else DType.int64
    return tir.Cast(to.value, _in_range(value, wide))


def _in_range(value: Expr, to: DType) -> Expr:
    source, limit = DType(type_of(value)), 2.0 ** (to.itemsize * 8 - 1)
    inside = tir.all(at_most(literal(-limit, source), value), value < literal(limit, source))
    safe = select(inside, value, literal(-0.0, source))
    return select(inside, tir.Cast(to.value, safe), tir.const(-(2 ** (to.itemsize * 8 - 1)), to.value))
