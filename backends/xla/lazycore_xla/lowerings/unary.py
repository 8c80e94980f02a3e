"""Elementwise functions of one tensor."""

from __future__ import annotations

from collections.abc import Callable

import jax.numpy as jnp
from jax import lax

from lazycore_xla.lowerings.operands import Array, as_dtype, is_complex, is_float, quotient
from lazycore_xla.registry import NUMERIC, lowering, register_all

__all__: list[str] = []


def _if_float(function: Callable[[Array], Array]) -> Callable[[Array], Array]:
    """Integers are already what rounding makes of them."""
    return lambda x: function(x) if is_float(x) else x


def _by_double(function: Callable[[Array], Array]) -> Callable[[Array], Array]:
    """XLA's own of a float32 loses up to six bits, where the argument is large: compute in float64 and round once."""

    def rounded(x: Array) -> Array:
        return function(x.astype(jnp.float64)).astype(x.dtype) if x.dtype == jnp.float32 else function(x)

    return rounded


_ROUND = _if_float(lambda x: lax.round(x, lax.RoundingMethod.TO_NEAREST_EVEN))


def _abs(x: Array) -> Array:
    """Of a complex number infinite where either part is, even beside NaN, as C99 has it."""
    size = jnp.abs(x)
    return jnp.where(jnp.isinf(x.real) | jnp.isinf(x.imag), jnp.inf, size) if is_complex(x) else size


def _sinh(x: Array) -> Array:
    if not is_complex(x):
        return _by_double(jnp.sinh)(x)
    return lax.complex(_sinh(x.real) * jnp.cos(x.imag), _cosh(x.real) * jnp.sin(x.imag))


def _cosh(x: Array) -> Array:
    if not is_complex(x):
        return _by_double(jnp.cosh)(x)
    return lax.complex(_cosh(x.real) * jnp.cos(x.imag), _sinh(x.real) * jnp.sin(x.imag))


def _on_cut(function: Callable[[Array], Array], sign: int) -> Callable[[Array], Array]:
    """Of complex numbers the imaginary part takes its sign from the operand's, -0.0 included, times ``sign``: along a
    branch cut XLA takes either side."""

    def signed(x: Array) -> Array:
        result = function(x)
        if not is_complex(x):
            return result
        return lax.complex(result.real, jnp.copysign(result.imag, sign * x.imag))

    return signed


def _asinh(x: Array) -> Array:
    """Its cut lies along the imaginary axis, so that the sign is the real part's."""
    result = jnp.arcsinh(x)
    return lax.complex(jnp.copysign(result.real, x.real), result.imag) if is_complex(x) else result


_ANALYTIC = {
    "aten.neg.default": jnp.negative,
    "aten.abs.default": _abs,
    "aten.exp.default": jnp.exp,
    "aten.log.default": jnp.log,
    "aten.sqrt.default": jnp.sqrt,
    "aten.sin.default": jnp.sin,
    "aten.cos.default": jnp.cos,
    "aten.tan.default": jnp.tan,
    "aten.sinh.default": _sinh,
    "aten.cosh.default": _cosh,
    "aten.tanh.default": jnp.tanh,
    "aten.reciprocal.default": jnp.reciprocal,
    "aten.exp2.default": _by_double(jnp.exp2),
    "aten.expm1.default": jnp.expm1,
    "aten.log1p.default": jnp.log1p,
    "aten.log2.default": jnp.log2,
    "aten.log10.default": jnp.log10,
    "aten.rsqrt.default": lax.rsqrt,
    "aten.asin.default": _on_cut(jnp.arcsin, 1),
    "aten.acos.default": _on_cut(jnp.arccos, -1),
    "aten.atan.default": jnp.arctan,
    "aten.asinh.default": _asinh,
    "aten.acosh.default": _on_cut(jnp.arccosh, 1),
    "aten.atanh.default": jnp.arctanh,
}

_REAL = {
    "aten.erf.default": lax.erf,
    "aten.erfc.default": _by_double(lax.erfc),
    "aten.floor.default": _if_float(lax.floor),
    "aten.ceil.default": _if_float(lax.ceil),
    "aten.trunc.default": _if_float(jnp.trunc),
    "aten.round.default": _ROUND,
    "aten.frac.default": lambda x: x - jnp.trunc(x),
    "aten.isnan.default": jnp.isnan,
    "aten.isinf.default": jnp.isinf,
    "aten.isposinf.default": lambda x: x == jnp.inf,
    "aten.isneginf.default": lambda x: x == -jnp.inf,
    "aten.signbit.default": lambda x: jnp.signbit(x) if is_float(x) else x < as_dtype(0, x.dtype),
    "aten.bitwise_not.default": jnp.invert,
}

register_all(_ANALYTIC, widen=True, dtypes=NUMERIC)
register_all(_REAL, widen=True)


@lowering("aten.sign.default", "aten.sgn.default", dtypes=NUMERIC)
def _sign(x: Array) -> Array:
    """-1, 0 or 1; unlike jax's, 0 for NaN. Of a complex number the direction, 0 for 0."""
    zero = as_dtype(0, x.dtype)
    if is_complex(x):
        return jnp.where(x == zero, zero, x / jnp.abs(x))
    return (x > zero) if x.dtype == jnp.bool_ else (x > zero).astype(x.dtype) - (x < zero).astype(x.dtype)


@lowering("aten.logical_not.default", dtypes=NUMERIC)
def _logical_not(x: Array) -> Array:
    return x == as_dtype(0, x.dtype)


@lowering("aten.round.decimals", widen=True)
def _round_decimals(x: Array, *, decimals: int) -> Array:
    """Round half to even at the given decimal place, scaled by a power of ten as ATen does."""
    if decimals == 0 or not is_float(x):
        return _ROUND(x)
    power = as_dtype(10.0 ** abs(decimals), x.dtype)
    return quotient(_ROUND(x * power), power) if decimals > 0 else _ROUND(quotient(x, power)) * power


@lowering("aten.frexp.Tensor")
def _frexp(x: Array) -> tuple[Array, Array]:
    """Mantissa of at least a half and below 1, and the power of two."""
    mantissa, exponent = jnp.frexp(x)
    return mantissa, exponent.astype(jnp.int32)
