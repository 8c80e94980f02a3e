"""Elementwise arithmetic on two tensors, or on a tensor and a number."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from lazycore_xla.lowerings.operands import Array, Scalar, as_dtype, is_float, quotient
from lazycore_xla.registry import NUMERIC, Lowering, lowering, register, register_all

__all__: list[str] = []


def _scaled(x: Array, alpha: Scalar) -> Array:
    # 1 leaves x alone, so that no multiplication is emitted.
    return x if not isinstance(alpha, jax.Array) and alpha == 1 else x * as_dtype(alpha, x.dtype)


@lowering("aten.add.Tensor", "aten.add.Scalar", widen=True, dtypes=NUMERIC)
def _add(x: Array, other: Scalar, alpha: Scalar = 1) -> Array:
    return x + _scaled(as_dtype(other, x.dtype), alpha)


@lowering("aten.sub.Tensor", "aten.sub.Scalar", widen=True, dtypes=NUMERIC)
def _sub(x: Array, other: Scalar, alpha: Scalar = 1) -> Array:
    return x - _scaled(as_dtype(other, x.dtype), alpha)


@lowering("aten.rsub.Tensor", "aten.rsub.Scalar", widen=True, dtypes=NUMERIC)
def _rsub(x: Array, other: Scalar, alpha: Scalar = 1) -> Array:
    return as_dtype(other, x.dtype) - _scaled(x, alpha)


def _floor_mod(a: Array, b: Array) -> Array:
    """The remainder with the divisor's sign: C's fmod, moved by b where the signs differ."""
    rest = lax.rem(a, b)
    zero = as_dtype(0, a.dtype)
    return jnp.where((rest != zero) & ((rest < zero) != (b < zero)), rest + b, rest)


def _floor_quotient(a: Array, b: Array) -> Array:
    """floor(a / b) without the error of rounding the quotient first, as Python's float division does."""
    zero = as_dtype(0, a.dtype)
    rest = lax.rem(a, b)
    crossing = (rest != zero) & ((rest < zero) != (b < zero))
    if not is_float(a):
        return lax.div(a, b) - crossing.astype(a.dtype)
    whole = quotient(a - rest, b) - crossing.astype(a.dtype)
    floor = jnp.floor(whole)
    floor = floor + (whole - floor > 0.5).astype(a.dtype)
    exact = jnp.where(whole != zero, floor, jnp.copysign(zero, quotient(a, b)))
    return jnp.where(b == zero, quotient(a, b), exact)


def _truncated_quotient(a: Array, b: Array) -> Array:
    return jnp.trunc(quotient(a, b)) if is_float(a) else lax.div(a, b)


_BY_ROUNDING_MODE: dict[str | None, Callable[[Array, Array], Array]] = {
    None: quotient,
    "floor": _floor_quotient,
    "trunc": _truncated_quotient,
}


@lowering("aten.div.Tensor_mode", "aten.div.Scalar_mode", widen=True)
def _div_mode(x: Array, other: Scalar, *, rounding_mode: str | None) -> Array:
    return _BY_ROUNDING_MODE[rounding_mode](*_common(x, other))


def _common(x: Any, y: Any) -> tuple[Array, Array]:
    """Both operands broadcast against each other, a number in the dtype of the tensor."""
    dtype = x.dtype if isinstance(x, jax.Array) else y.dtype
    first, second = jnp.broadcast_arrays(as_dtype(x, dtype), as_dtype(y, dtype))
    return first, second


def _binary(function: Callable[..., Array]) -> Callable[[Any, Any], Array]:
    return lambda x, y: function(*_common(x, y))


def _xlogy(x: Array, y: Array) -> Array:
    product = jnp.where(x == as_dtype(0, x.dtype), as_dtype(0, x.dtype), x * jnp.log(y))
    return jnp.where(jnp.isnan(y), y, product)


def _hypot(x: Array, y: Array) -> Array:
    """Infinite where either side is, even beside NaN, as C99 has it."""
    return jnp.where(jnp.isinf(x) | jnp.isinf(y), as_dtype(jnp.inf, x.dtype), jnp.hypot(x, y))


def _is_shiftable(x: Array, by: Array) -> Array:
    return (by >= as_dtype(0, by.dtype)) & (by < as_dtype(x.dtype.itemsize * 8, by.dtype))


def _shift_left(x: Array, by: Array) -> Array:
    return jnp.where(_is_shiftable(x, by), lax.shift_left(x, by), as_dtype(0, x.dtype))


def _shift_right(x: Array, by: Array) -> Array:
    """Arithmetic for signed types; a count out of range leaves only copies of the sign."""
    unsigned = jnp.issubdtype(x.dtype, jnp.unsignedinteger)
    shift = lax.shift_right_logical if unsigned else lax.shift_right_arithmetic
    rest = jnp.zeros_like(x) if unsigned else shift(x, as_dtype(x.dtype.itemsize * 8 - 1, x.dtype))
    return jnp.where(_is_shiftable(x, by), shift(x, by), rest)


def _gcd(x: Array, y: Array) -> Array:
    return jnp.abs(jnp.gcd(x, y))  # lax.abs refuses unsigned numbers


def _lcm(x: Array, y: Array) -> Array:
    """Wraps around; 0 where either is 0."""
    divisor = jnp.gcd(x, y)
    safe = jnp.where(divisor == 0, as_dtype(1, x.dtype), divisor)
    return jnp.abs(lax.div(x, safe) * y)


_REAL: dict[str, Callable[..., Array]] = {
    "aten.floor_divide.default": _floor_quotient,
    "aten.maximum.default": lax.max,
    "aten.minimum.default": lax.min,
    "aten.fmax.default": jnp.fmax,
    "aten.fmin.default": jnp.fmin,
    "aten.fmod.Tensor": lax.rem,
    "aten.fmod.Scalar": lax.rem,
    "aten.remainder.Tensor": _floor_mod,
    "aten.remainder.Scalar": _floor_mod,
    "aten.remainder.Scalar_Tensor": _floor_mod,
    "aten.atan2.default": lax.atan2,
    "aten.hypot.default": _hypot,
    "aten.copysign.Tensor": jnp.copysign,
    "aten.copysign.Scalar": jnp.copysign,
    "aten.xlogy.Tensor": _xlogy,
    "aten.gcd.default": _gcd,
    "aten.lcm.default": _lcm,
    "aten.bitwise_and.Tensor": lax.bitwise_and,
    "aten.bitwise_and.Scalar": lax.bitwise_and,
    "aten.bitwise_or.Tensor": lax.bitwise_or,
    "aten.bitwise_or.Scalar": lax.bitwise_or,
    "aten.bitwise_xor.Tensor": lax.bitwise_xor,
    "aten.bitwise_xor.Scalar": lax.bitwise_xor,
    "aten.bitwise_left_shift.Tensor": _shift_left,
    "aten.bitwise_right_shift.Tensor": _shift_right,
}

_ANALYTIC: dict[str, Callable[..., Array]] = {
    "aten.mul.Tensor": jnp.multiply,
    "aten.mul.Scalar": jnp.multiply,
    "aten.div.Tensor": quotient,
    "aten.div.Scalar": quotient,
}

# A half type's neighbour is not float32's, hence no widening.
register("aten.nextafter.default", Lowering(_binary(lax.nextafter)))
register_all({op: _binary(f) for op, f in _REAL.items()}, widen=True)
register_all({op: _binary(f) for op, f in _ANALYTIC.items()}, widen=True, dtypes=NUMERIC)
