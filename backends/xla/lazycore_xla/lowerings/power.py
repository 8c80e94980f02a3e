"""Powers, with the exponents that ATen computes by other means."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from lazycore_xla.lowerings.operands import Array, Scalar, as_dtype
from lazycore_xla.registry import NUMERIC, lowering

__all__: list[str] = []

_SPECIAL: dict[float, Callable[[Array], Array]] = {
    0.5: jnp.sqrt,
    1.0: lambda x: x,
    2.0: lambda x: x * x,
    3.0: lambda x: x * x * x,
    -0.5: lax.rsqrt,
    -1.0: lambda x: 1 / x,
    -2.0: lambda x: 1 / (x * x),
}


@lowering("aten.pow.Tensor_Scalar", dtypes=NUMERIC)
def _pow_scalar(x: Array, exponent: Scalar) -> Array:
    if x.dtype in (jnp.float16, jnp.bfloat16):
        return _pow_half(x, exponent).astype(x.dtype)
    return _pow_wide(x, exponent)


def _pow_half(x: Array, exponent: Scalar) -> Array:
    """In float32. The CPU has no root of its own for float16: there a half is an exponent like any other."""
    wide = x.astype(jnp.float32)
    exponent = exponent.astype(jnp.float32) if isinstance(exponent, jax.Array) else exponent
    if x.dtype == jnp.float16:
        return jnp.where(abs(exponent) == 0.5, _pow(wide, exponent), _pow_wide(wide, exponent))
    return _pow_wide(wide, exponent)


def _pow_wide(x: Array, exponent: Scalar) -> Array:
    if not isinstance(exponent, (jax.Array, complex)) and jnp.issubdtype(x.dtype, jnp.floating):
        special = _SPECIAL.get(float(exponent))
        if special is not None:
            return special(x)
    if isinstance(exponent, jax.Array) and jnp.issubdtype(x.dtype, jnp.floating):
        return _pow_varying(x, exponent)
    return _pow(x, exponent)


def _pow_varying(x: Array, exponent: Array) -> Array:
    """ATen takes the roots of infinities and -0.0 by sqrt, which differs from pow, whenever the exponent is a half."""
    root = jnp.where(exponent == 0.5, jnp.sqrt(x), _pow(x, exponent))
    return jnp.where(exponent == -0.5, lax.rsqrt(x), root)


@lowering("aten.pow.Tensor_Tensor", "aten.pow.Scalar", widen=True, dtypes=NUMERIC)
def _pow(x: Any, exponent: Any) -> Array:
    dtype = x.dtype if isinstance(x, jax.Array) else exponent.dtype
    base, power = jnp.broadcast_arrays(as_dtype(x, dtype), as_dtype(exponent, dtype))
    if dtype == jnp.bool_:
        return base | ~power
    if jnp.issubdtype(dtype, jnp.complexfloating):
        # XLA takes the logarithm of 0.
        return jnp.where((base == 0) & (power.real > 0), as_dtype(0, dtype), jnp.power(base, power))
    if jnp.issubdtype(dtype, jnp.inexact):
        return jnp.power(base, power)
    return _integer_power(base, power)


def _integer_power(base: Array, exponent: Array) -> Array:
    """Wraps around. A negative exponent gives 0 except for the bases 1 and -1, as in ATen."""
    one, zero = as_dtype(1, base.dtype), as_dtype(0, base.dtype)

    def step(_: Any, state: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
        result, square, rest = state
        result = jnp.where((rest & one) == one, result * square, result)
        return result, square * square, lax.shift_right_logical(rest, one)

    bits = base.dtype.itemsize * 8
    result, _, _ = lax.fori_loop(0, bits, step, (jnp.ones_like(base), base, jnp.maximum(exponent, zero)))
    if jnp.issubdtype(base.dtype, jnp.unsignedinteger):
        return result
    sign = jnp.where((exponent & one) == one, base, one)
    inverse = jnp.where(base == one, one, jnp.where(base == -one, sign, zero))
    return jnp.where(exponent < zero, inverse, result)
