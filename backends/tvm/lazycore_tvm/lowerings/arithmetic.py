"""Arithmetic of two operands that broadcast. Tensor operands arrive in one dtype; numbers may be 0-d arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lazycore_plugin_api import DType

from lazycore_tvm.arrays import Array, elementwise
from lazycore_tvm.operands import is_one, number
from lazycore_tvm.registry import BOOL, FLOATS, INTS, REAL, lowering
from lazycore_tvm.scalars import (
    Expr,
    bind,
    call,
    differs,
    equal,
    is_floating,
    is_nan,
    largest,
    like,
    select,
    smallest,
    sub,
    type_of,
)
from lazycore_tvm.tvm_runtime import tvm

tir = tvm.tirx
Binary = Callable[[Expr, Expr], Expr]
NUMBERS = REAL - BOOL


def _plus(x: Expr, y: Expr) -> Expr:
    return tir.any(x, y) if type_of(x) == "bool" else x + y


def _times(x: Expr, y: Expr) -> Expr:
    return tir.all(x, y) if type_of(x) == "bool" else x * y


def _divided(x: Expr, y: Expr) -> Expr:
    return x / y


def _scaled(x: Array, alpha: Any) -> Array:
    if is_one(alpha):
        return x
    # Within one op a 16-bit product is not rounded, so that the dtype of the step between is the widened one.
    factor = number(alpha, x)
    return Array(
        x.shape, x.dtype, lambda *i: _times(x.at(*i), factor.at()),
        (lambda place: _times(x.element(place), factor.at())) if x.flat else None, x.cost + 1,
    )  # fmt: skip


def _blended(function: Binary, x: Array, other: Array, alpha: Any) -> Array:
    return elementwise(function, x, _scaled(other, alpha), dtype=x.dtype)


@lowering("add.Tensor", wraps=True)
def add(x: Array, other: Array, *, alpha: Any = 1) -> Array:
    """x + alpha * other; of booleans, or."""
    return _blended(_plus, x, other, alpha)


@lowering("add.Scalar", wraps=True)
def add_number(x: Array, other: Any, alpha: Any = 1) -> Array:
    """x + alpha * other."""
    return _blended(_plus, x, number(other, x), alpha)


@lowering("sub.Tensor", wraps=True, dtypes=NUMBERS)
def subtract(x: Array, other: Array, *, alpha: Any = 1) -> Array:
    """x - alpha * other."""
    return _blended(sub, x, other, alpha)


@lowering("sub.Scalar", wraps=True, dtypes=NUMBERS)
def subtract_number(x: Array, other: Any, alpha: Any = 1) -> Array:
    """x - alpha * other."""
    return _blended(sub, x, number(other, x), alpha)


@lowering("rsub.Tensor", wraps=True, dtypes=NUMBERS)
def subtract_from(x: Array, other: Array, *, alpha: Any = 1) -> Array:
    """other - alpha * x."""
    return _blended(sub, other, x, alpha)


@lowering("rsub.Scalar", wraps=True, dtypes=NUMBERS)
def subtract_from_number(x: Array, other: Any, alpha: Any = 1) -> Array:
    """other - alpha * x."""
    return elementwise(sub, number(other, x), _scaled(x, alpha), dtype=x.dtype)


def _quotient(x: Expr, y: Expr, use: Binary) -> Expr:
    """``use`` of the integer quotient, towards zero, and the remainder. Dividing by 0, or the smallest number by -1,
    would end the process: the first is never asked for, the second wraps around. The quotient stands outside of all
    choices, within which TVM would simplify the guard away."""
    if type_of(x).startswith("uint"):
        quotient = tir.truncdiv(x, select(tir.EQ(y, like(0, y)), like(1, y), y))
    else:
        guarded = tir.any(tir.EQ(y, like(0, y)), tir.EQ(y, like(-1, y)))
        sign = select(tir.EQ(y, like(-1, y)), like(-1, y), like(1, y))
        quotient = tir.truncdiv(x, select(guarded, like(1, y), y)) * sign
    return bind(quotient, lambda whole: bind(x - whole * y, lambda rest: use(whole, rest)))


def _adjusts(rest: Expr, y: Expr) -> Expr:
    """Whether the remainder's sign is not the divisor's."""
    opposed = tir.any(tir.all(rest < like(0, rest), y > like(0, y)), tir.all(rest > like(0, rest), y < like(0, y)))
    return tir.const(False, "bool") if type_of(y).startswith("uint") else opposed


def _floor_quotient(x: Expr, y: Expr) -> Expr:
    if not is_floating(x):
        return _quotient(x, y, lambda q, rest: select(_adjusts(rest, y), q - like(1, q), q))
    rest = call("fmod", x, y)
    exact = sub(x, rest) / y
    quotient = sub(exact, select(_adjusts(rest, y), like(1, x), like(0, x)))
    floor = tir.floor(quotient)
    whole = floor + select(sub(quotient, floor) > like(0.5, x), like(1, x), like(0, x))
    signed = call("copysign", like(0, x), x / y)
    return select(equal(y, like(0, y)), x / y, select(differs(quotient, like(0, x)), whole, signed))


def _truncated_quotient(x: Expr, y: Expr) -> Expr:
    return tir.trunc(x / y) if is_floating(x) else _quotient(x, y, lambda quotient, _: quotient)


def _fmod(x: Expr, y: Expr) -> Expr:
    return call("fmod", x, y) if is_floating(x) else _quotient(x, y, lambda _, rest: rest)


def _remainder(x: Expr, y: Expr) -> Expr:
    return bind(_fmod(x, y), lambda rest: select(_adjusts(rest, y), rest + y, rest))


def _power(x: Expr, y: Expr) -> Expr:
    return call("pow", x, y)


def _any_power(x: Expr, y: Expr) -> Expr:
    """A power whose exponent may be a half."""
    root = tir.sqrt(x)
    half = select(y > like(0, y), root, like(1, x) / root)
    return select(equal(tir.abs(y), like(0.5, y)), half, _power(x, y))


def _copysign(x: Expr, y: Expr) -> Expr:
    return call("copysign", x, y)


def _fmax(x: Expr, y: Expr) -> Expr:
    if not is_floating(x):
        return largest(x, y)
    return select(is_nan(x), y, select(is_nan(y), x, largest(x, y)))


def _fmin(x: Expr, y: Expr) -> Expr:
    if not is_floating(x):
        return smallest(x, y)
    return select(is_nan(x), y, select(is_nan(y), x, smallest(x, y)))


def _xlogy(x: Expr, y: Expr) -> Expr:
    return select(is_nan(y), y, select(equal(x, like(0, x)), like(0, x), x * call("log", y)))


def _on_arrays(function: Binary) -> Callable[[Array, Array], Array]:
    return lambda x, other: elementwise(function, x, other, dtype=x.dtype)


def _with_number(function: Binary) -> Callable[[Array, Any], Array]:
    return lambda x, other: elementwise(function, x, number(other, x), dtype=x.dtype)


lowering("mul.Tensor", wraps=True)(_on_arrays(_times))
lowering("mul.Scalar", wraps=True)(_with_number(_times))
lowering("div.Tensor", dtypes=FLOATS)(_on_arrays(_divided))
lowering("div.Scalar", dtypes=FLOATS)(_with_number(_divided))
lowering("floor_divide", wraps=True, dtypes=NUMBERS)(_on_arrays(_floor_quotient))
lowering("fmod.Tensor", wraps=True, dtypes=NUMBERS)(_on_arrays(_fmod))
lowering("fmod.Scalar", wraps=True, dtypes=NUMBERS)(_with_number(_fmod))
lowering("remainder.Tensor", wraps=True, dtypes=NUMBERS)(_on_arrays(_remainder))
lowering("remainder.Scalar", wraps=True, dtypes=NUMBERS)(_with_number(_remainder))
lowering("maximum")(_on_arrays(largest))
lowering("minimum")(_on_arrays(smallest))
lowering("fmax")(_on_arrays(_fmax))
lowering("fmin")(_on_arrays(_fmin))
lowering("atan2", dtypes=FLOATS)(_on_arrays(lambda x, y: call("atan2", x, y)))
lowering("hypot", dtypes=FLOATS)(_on_arrays(lambda x, y: call("hypot", x, y)))
lowering("copysign.Tensor", dtypes=FLOATS)(_on_arrays(_copysign))
lowering("xlogy.Tensor", dtypes=FLOATS)(_on_arrays(_xlogy))
lowering("pow.Tensor_Tensor", dtypes=FLOATS)(_on_arrays(_power))

_QUOTIENTS: dict[str | None, Binary] = {None: _divided, "floor": _floor_quotient, "trunc": _truncated_quotient}


@lowering("remainder.Scalar_Tensor", wraps=True, dtypes=NUMBERS)
def remainder_of_number(x: Any, other: Array) -> Array:
    """The remainder of a number by each divisor."""
    return elementwise(_remainder, number(x, other), other, dtype=other.dtype)


@lowering("div.Tensor_mode", wraps=True, dtypes=NUMBERS)
def divide_by_mode(x: Array, other: Array, *, rounding_mode: str | None) -> Array:
    """Division, rounded by the mode: None, floor or trunc."""
    return elementwise(_QUOTIENTS[rounding_mode], x, other, dtype=x.dtype)


@lowering("div.Scalar_mode", wraps=True, dtypes=NUMBERS)
def divide_by_number(x: Array, other: Any, *, rounding_mode: str | None) -> Array:
    """Division by a number, rounded by the mode."""
    return elementwise(_QUOTIENTS[rounding_mode], x, number(other, x), dtype=x.dtype)


# The powers that the CPU computes in another way than by its general function.
_POWERS: dict[float, Callable[[Expr], Expr]] = {
    0.5: tir.sqrt,
    -0.5: lambda x: like(1, x) / tir.sqrt(x),
    2: lambda x: x * x,
    3: lambda x: x * x * x,
    -1: lambda x: like(1, x) / x,
    -2: lambda x: like(1, x) / (x * x),
}


# The CPU's kernel for float16 takes no roots: -inf to the power of a half is inf there.
@lowering("pow.Tensor_Scalar", dtypes=FLOATS - {DType.float16})
def power(x: Array, exponent: Any) -> Array:
    """x ** exponent; powers of a half are square roots, which differ for -inf and -0.0."""
    special = None if isinstance(exponent, Array) else _POWERS.get(exponent)
    if special:
        return elementwise(special, x, dtype=x.dtype)
    varies = isinstance(exponent, Array)
    return elementwise(_any_power if varies else _power, x, number(exponent, x), dtype=x.dtype)


@lowering("pow.Scalar", dtypes=FLOATS)
def power_of_number(x: Any, exponent: Array) -> Array:
    """A number to each exponent."""
    return elementwise(_power, number(x, exponent), exponent, dtype=exponent.dtype)


def _bits(x: Expr) -> int:
    return int("".join(c for c in type_of(x) if c.isdigit()))


def _inside(count: Expr, x: Expr) -> Expr:
    return tir.all(count >= like(0, count), count < like(_bits(x), count))


def _left(x: Expr, count: Expr) -> Expr:
    inside = _inside(count, x)
    return select(inside, tir.shift_left(x, select(inside, count, like(0, count))), like(0, x))


def _right(x: Expr, count: Expr) -> Expr:
    return tir.shift_right(x, select(_inside(count, x), count, like(_bits(x) - 1, count)))


lowering("bitwise_left_shift.Tensor", wraps=True, dtypes=INTS)(_on_arrays(_left))
lowering("bitwise_right_shift.Tensor", dtypes=INTS)(_on_arrays(_right))
