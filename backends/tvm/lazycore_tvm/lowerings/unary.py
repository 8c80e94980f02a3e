"""Functions of one operand, element by element. Integer operands of transcendental functions arrive as floats."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lazycore_plugin_api import DType

from lazycore_tvm.arrays import Array, elementwise
from lazycore_tvm.registry import BOOL, FLOATS, REAL, lowering
from lazycore_tvm.scalars import Expr, call, differs, equal, is_floating, is_nan, like, negative, select, sub, type_of
from lazycore_tvm.tvm_runtime import tvm

__all__ = ["sigmoid"]

tir = tvm.tirx

_LIBRARY = (
    "exp", "exp2", "expm1", "log", "log1p", "log2", "log10", "sin", "cos", "tan", "asin", "acos", "atan", "sinh",
    "cosh", "tanh", "asinh", "acosh", "atanh", "erf", "erfc", "lgamma",
)  # fmt: skip


def _same(function: Callable[[Expr], Expr]) -> Callable[[Array], Array]:
    return lambda x: elementwise(function, x, dtype=x.dtype)


def _to_bool(function: Callable[[Expr], Expr]) -> Callable[[Array], Array]:
    return lambda x: elementwise(function, x, dtype=DType.bool)


def _library(name: str) -> Callable[[Expr], Expr]:
    return lambda x: call(name, x)


for _name in _LIBRARY:
    lowering(_name, dtypes=FLOATS)(_same(_library(_name)))


def _rounding(function: Any) -> Callable[[Expr], Expr]:
    return lambda x: function(x) if is_floating(x) else x


_ROUNDINGS: dict[str, Any] = {"floor": tir.floor, "ceil": tir.ceil, "round": tir.nearbyint, "trunc": tir.trunc}

for _name, _function in _ROUNDINGS.items():
    lowering(_name)(_same(_rounding(_function)))


def sigmoid(x: Expr) -> Expr:
    """1 / (1 + exp(-x)); the exponential's overflow to infinity gives the right 0."""
    return like(1, x) / (like(1, x) + call("exp", negative(x)))


def size(x: Expr) -> Expr:
    """abs(x)."""
    return tir.abs(x) if is_floating(x) else select(x < like(0, x), negative(x), x)


def _sign(x: Expr) -> Expr:
    if type_of(x) == "bool":
        return x
    below = like(0, x) if type_of(x).startswith("uint") else select(x < like(0, x), like(-1, x), like(0, x))
    return select(x > like(0, x), like(1, x), below)


def _signbit(x: Expr) -> Expr:
    if is_floating(x):
        bits = type_of(x).replace("float", "int")
        return tir.reinterpret(bits, x) < tir.const(0, bits)
    return tir.const(False, "bool") if type_of(x) == "bool" else x < like(0, x)


def _inverted(x: Expr) -> Expr:
    return tir.Not(x) if type_of(x) == "bool" else tir.bitwise_not(x)


def _is_infinite(x: Expr) -> Expr:
    return equal(tir.abs(x), like(float("inf"), x)) if is_floating(x) else tir.const(False, "bool")


lowering("reciprocal", dtypes=FLOATS)(_same(lambda x: like(1, x) / x))
lowering("rsqrt", dtypes=FLOATS)(_same(lambda x: like(1, x) / tir.sqrt(x)))
lowering("sqrt", dtypes=FLOATS)(_same(tir.sqrt))
lowering("sigmoid", dtypes=FLOATS)(_same(sigmoid))
lowering("frac", dtypes=FLOATS)(_same(lambda x: sub(x, tir.trunc(x))))
lowering("abs", dtypes=REAL - BOOL, wraps=True)(_same(size))
lowering("neg", dtypes=REAL - BOOL, wraps=True)(_same(negative))
lowering("relu", dtypes=REAL - BOOL)(_same(lambda x: select(x < like(0, x), like(0, x), x)))
lowering("sign", "sgn")(_same(_sign))
lowering("bitwise_not", dtypes=REAL - FLOATS)(_same(_inverted))
lowering("signbit")(_to_bool(_signbit))
lowering("isnan")(_to_bool(is_nan))
lowering("isinf")(_to_bool(_is_infinite))
lowering("logical_not")(_to_bool(lambda x: tir.Not(differs(x, like(0, x)))))


@lowering("round.decimals", dtypes=FLOATS)
def round_decimals(x: Array, *, decimals: int) -> Array:
    """To a number of decimals, halves to even; a negative number rounds before the point."""

    def at(value: Expr) -> Expr:
        scale = like(10.0 ** abs(decimals), value)
        if decimals < 0:
            return tir.nearbyint(value / scale) * scale
        return tir.nearbyint(value * scale) / scale

    return elementwise(at, x, dtype=x.dtype)
