"""Complex numbers: their making, their parts, and the sign that is a direction."""

from __future__ import annotations

import math

import jax.numpy as jnp
from jax import lax

from lazycore_xla.lowerings.operands import Array, Out, as_dtype, is_complex
from lazycore_xla.registry import NUMERIC, lowering

__all__: list[str] = []


@lowering("aten.complex.default", dtypes=NUMERIC)
def _complex(real: Array, imaginary: Array) -> Array:
    return lax.complex(*jnp.broadcast_arrays(real, imaginary))


@lowering("aten.polar.default", dtypes=NUMERIC)
def _polar(size: Array, angle: Array) -> Array:
    return _complex(size * jnp.cos(angle), size * jnp.sin(angle))


@lowering("aten.conj_physical.default", "aten._conj_physical.default", dtypes=NUMERIC)
def _conjugate(x: Array) -> Array:
    return lax.conj(x) if is_complex(x) else x


@lowering("aten.angle.default", widen=True, needs_out=True, dtypes=NUMERIC)
def _angle(x: Array, *, out: Out) -> Array:
    """Of a real number pi below zero, else 0; NaN stays NaN."""
    if is_complex(x):
        return lax.atan2(x.imag, x.real)
    real = x.astype(out[0].dtype.numpy)
    zero = as_dtype(0, real.dtype)
    return jnp.where(real < zero, as_dtype(math.pi, real.dtype), jnp.where(jnp.isnan(real), real, zero))
