"""Functions of two operands that broadcast. Tensor operands arrive in one dtype; numbers may be 0-d arrays."""

# To mypy, arithmetic on arrays of any dtype is Any.
# mypy: disable-error-code="no-any-return"

from __future__ import annotations

from typing import Any

import numpy as np

from lazycore_reference.registry import Array, lowering

_UFUNCS: dict[str, Any] = {
    "maximum.default": np.maximum,
    "minimum.default": np.minimum,
    "fmax.default": np.fmax,
    "fmin.default": np.fmin,
    "atan2.default": np.arctan2,
    "hypot.default": np.hypot,
    "copysign.Tensor": np.copysign,
    "mul.Tensor": np.multiply,
    "div.Tensor": np.divide,
    "logical_and.default": np.logical_and,
    "logical_or.default": np.logical_or,
    "logical_xor.default": np.logical_xor,
    "bitwise_and.Tensor": np.bitwise_and,
    "bitwise_or.Tensor": np.bitwise_or,
    "bitwise_xor.Tensor": np.bitwise_xor,
    "eq.Tensor": np.equal,
    "ne.Tensor": np.not_equal,
    "lt.Tensor": np.less,
    "le.Tensor": np.less_equal,
    "gt.Tensor": np.greater,
    "ge.Tensor": np.greater_equal,
}

for _name, _function in _UFUNCS.items():
    lowering(f"aten.{_name}")(_function)


def number(value: Any, like: Array) -> Array:
    """A Scalar argument in the dtype of the operand beside it; integers wrap around as ATen's do."""
    return np.asarray(value).astype(like.dtype)


def _with_number(function: Any) -> Any:
    return lambda x, other: function(x, number(other, x))


for _name in ("eq", "ne", "lt", "le", "gt", "ge", "bitwise_and", "bitwise_or", "bitwise_xor", "mul", "div"):
    lowering(f"aten.{_name}.Scalar")(_with_number(_UFUNCS[f"{_name}.Tensor"]))


def _scaled(x: Array, alpha: Any) -> Array:
    return x if isinstance(alpha, int) and alpha == 1 else np.multiply(x, number(alpha, x))


@lowering("aten.add.Tensor")
def add(x: Array, other: Array, *, alpha: Any = 1) -> Array:
    """x + alpha * other; of booleans, or."""
    return np.add(x, _scaled(other, alpha))


@lowering("aten.add.Scalar")
def add_scalar(x: Array, other: Any, alpha: Any) -> Array:
    """x + alpha * other."""
    return np.add(x, _scaled(number(other, x), alpha))


@lowering("aten.sub.Tensor")
def sub(x: Array, other: Array, *, alpha: Any = 1) -> Array:
    """x - alpha * other."""
    return np.subtract(x, _scaled(other, alpha))


@lowering("aten.sub.Scalar")
def sub_scalar(x: Array, other: Any, alpha: Any) -> Array:
    """x - alpha * other."""
    return np.subtract(x, _scaled(number(other, x), alpha))


@lowering("aten.rsub.Tensor")
def rsub(x: Array, other: Array, *, alpha: Any = 1) -> Array:
    """other - alpha * x."""
    return np.subtract(other, _scaled(x, alpha))


@lowering("aten.rsub.Scalar")
def rsub_scalar(x: Array, other: Any, alpha: Any) -> Array:
    """other - alpha * x."""
    return np.subtract(number(other, x), _scaled(x, alpha))


def _check_divisor(x: Array, y: Array) -> None:
    if y.dtype.kind in "iu" and np.size(x) and np.any(np.equal(y, 0)):
        raise ZeroDivisionError("integer division by zero")


def floor_quotient(x: Array, y: Array) -> Array:
    """Division rounded down, as Python's // does; of floats by zero, x / y. Raises ZeroDivisionError for integers."""
    _check_divisor(x, y)
    if y.dtype.kind in "iu":
        return np.floor_divide(x, y)
    remainder = np.fmod(x, y)
    quotient = (x - remainder) / y - ((remainder != 0) & ((y < 0) != (remainder < 0)))
    floor = np.floor(quotient)
    whole = floor + (quotient - floor > 0.5)
    result = np.where(quotient != 0, whole, np.copysign(np.zeros_like(quotient), x / y))
    return np.where(y == 0, x / y, result)


def truncated_quotient(x: Array, y: Array) -> Array:
    """Division rounded towards zero. Raises ZeroDivisionError for integers."""
    _check_divisor(x, y)
    if y.dtype.kind not in "iu":
        return np.trunc(np.divide(x, y))
    down = np.floor_divide(x, y)
    return np.add(down, (x != down * y) & ((x < 0) != (y < 0)), dtype=down.dtype)


_QUOTIENTS: dict[str | None, Any] = {None: np.divide, "floor": floor_quotient, "trunc": truncated_quotient}

lowering("aten.floor_divide.default")(floor_quotient)


@lowering("aten.div.Tensor_mode")
def div_mode(x: Array, other: Array, *, rounding_mode: str | None) -> Array:
    """Division, rounded by the mode: None, floor or trunc."""
    return np.asarray(_QUOTIENTS[rounding_mode](x, other))


@lowering("aten.div.Scalar_mode")
def div_scalar_mode(x: Array, other: Any, *, rounding_mode: str | None) -> Array:
    """Division by a number, rounded by the mode."""
    return np.asarray(_QUOTIENTS[rounding_mode](x, number(other, x)))


@lowering("aten.fmod.Tensor")
def fmod(x: Array, other: Array) -> Array:
    """The remainder with the sign of x. Raises ZeroDivisionError for integers."""
    _check_divisor(x, other)
    return np.fmod(x, other)


@lowering("aten.remainder.Tensor")
def remainder(x: Array, other: Array) -> Array:
    """The remainder with the sign of the divisor. Raises ZeroDivisionError for integers."""
    _check_divisor(x, other)
    rest = np.fmod(x, other)
    return np.where((rest != 0) & ((other < 0) != (rest < 0)), rest + other, rest)


lowering("aten.fmod.Scalar")(_with_number(fmod))
lowering("aten.remainder.Scalar")(_with_number(remainder))


@lowering("aten.remainder.Scalar_Tensor")
def remainder_of_scalar(x: Any, other: Array) -> Array:
    """The remainder of a number by each divisor."""
    return remainder(number(x, other), other)


def power(x: Array, exponent: Array) -> Array:
    """x ** exponent; an integer to a negative power is 0 unless x is 1 or -1."""
    if x.dtype.kind not in "iu":
        return np.power(x, exponent)
    positive = np.power(x, np.maximum(exponent, 0))
    if exponent.dtype.kind == "u":
        return positive
    unit = np.where(np.abs(x) == 1, np.power(x, np.abs(exponent) % 2), 0)
    return np.where(exponent < 0, unit, positive)


lowering("aten.pow.Tensor_Tensor")(power)


@lowering("aten.pow.Tensor_Scalar", raw=True)
def power_by_scalar(x: Array, exponent: Any) -> Array:
    """x ** exponent; powers of a half are square roots, which differ for -inf and -0.0, but of float16 they are not."""
    if x.dtype == np.float16:  # NumPy computes each in float32, and without roots
        return np.power(x, np.float16(exponent))
    if x.dtype.kind not in "iub" and x.dtype.itemsize < 4:
        x = x.astype(np.float32)
    if abs(exponent) == 0.5:
        root = np.sqrt(x)
        return root if exponent > 0 else np.reciprocal(root)
    return power(x, number(exponent, x))


@lowering("aten.pow.Scalar")
def power_of_scalar(x: Any, exponent: Array) -> Array:
    """A number to each exponent."""
    return power(number(x, exponent), exponent)


@lowering("aten.xlogy.Tensor")
def xlogy(x: Array, y: Array) -> Array:
    """x * log(y), 0 where x is 0, NaN where y is."""
    return np.where(np.isnan(y), y, np.where(x == 0, np.zeros_like(x), x * np.log(y)))


def _bits(x: Array) -> int:
    return x.dtype.itemsize * 8


@lowering("aten.bitwise_left_shift.Tensor")
def left_shift(x: Array, count: Array) -> Array:
    """Bits to the left; 0 for a count that is negative or past the width."""
    inside = (count >= 0) & (count < _bits(x))
    return np.where(inside, np.left_shift(x, np.where(inside, count, 0)), 0)


@lowering("aten.bitwise_right_shift.Tensor")
def right_shift(x: Array, count: Array) -> Array:
    """Bits to the right, the sign filling up; only the sign is left for a count that is negative or past the width."""
    inside = (count >= 0) & (count < _bits(x))
    return np.right_shift(x, np.where(inside, count, _bits(x) - 1).astype(x.dtype))
