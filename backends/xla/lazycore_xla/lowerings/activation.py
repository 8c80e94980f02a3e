"""Activation functions."""

from __future__ import annotations

import math

import jax.numpy as jnp
from jax import lax

from lazycore_xla.lowerings.operands import Array, Out, Scalar, as_dtype
from lazycore_xla.lowerings.ternary import clamp
from lazycore_xla.registry import FLOATING, NUMERIC, REAL, lowering

__all__ = ["GELU_CUBIC", "ramp6"]

GELU_CUBIC = 0.044715
"""The cubic coefficient of the tanh form of gelu (Hendrycks & Gimpel, arXiv 1606.08415)."""


@lowering("aten.relu.default", dtypes=REAL)
def _relu(x: Array) -> Array:
    """Keeps NaN and -0.0, which XLA's maximum would turn into 0.0."""
    return jnp.where(x < as_dtype(0, x.dtype), jnp.zeros_like(x), x)


@lowering("aten.sigmoid.default", widen=True, dtypes=NUMERIC)
def _sigmoid(x: Array) -> Array:
    return 1 / (1 + jnp.exp(-x))


@lowering("aten.silu.default", widen=True)
def _silu(x: Array) -> Array:
    return x / (1 + jnp.exp(-x))


@lowering("aten.mish.default", widen=True)
def _mish(x: Array) -> Array:
    return x * jnp.tanh(jnp.log1p(jnp.exp(x)))


@lowering("aten.gelu.default", widen=True, dtypes=FLOATING)
def _gelu(x: Array, *, approximate: str) -> Array:
    if approximate == "tanh":
        inner = math.sqrt(2 / math.pi) * (x + GELU_CUBIC * x * x * x)
        return 0.5 * x * (1 + jnp.tanh(inner))
    return x * 0.5 * (1 + lax.erf(x * math.sqrt(0.5)))


@lowering("aten.hardtanh.default", widen=True)
def _hardtanh(x: Array, low: Scalar, high: Scalar) -> Array:
    return clamp(x, low, high)


def ramp6(x: Array) -> Array:
    """x + 3 clamped to 0..6, of which the hard sigmoid and the hard swish are made."""
    return clamp(x + 3, 0, 6)


@lowering("aten.hardswish.default", widen=True)
def _hardswish(x: Array) -> Array:
    return x * ramp6(x) / 6


@lowering("aten.hardsigmoid.default", widen=True)
def _hardsigmoid(x: Array) -> Array:
    return ramp6(x) / 6


@lowering("aten.leaky_relu.default", widen=True)
def _leaky_relu(x: Array, slope: Scalar) -> Array:
    return jnp.where(x > 0, x, x * as_dtype(slope, x.dtype))


@lowering("aten.elu.default", widen=True)
def _elu(x: Array, alpha: Scalar, scale: Scalar, input_scale: Scalar) -> Array:
    a, s, i = (as_dtype(v, x.dtype) for v in (alpha, scale, input_scale))
    return jnp.where(x <= 0, jnp.expm1(x * i) * (a * s), x * s)


@lowering("aten.softplus.default", widen=True)
def _softplus(x: Array, beta: Scalar, threshold: Scalar) -> Array:
    b = as_dtype(beta, x.dtype)
    return jnp.where(x * b > as_dtype(threshold, x.dtype), x, jnp.log1p(jnp.exp(x * b)) / b)


@lowering("aten.log_sigmoid_forward.default", widen=True, needs_out=True)
def _log_sigmoid(x: Array, *, out: Out) -> tuple[Array, Array]:
    """The second output is exp(-|x|) for the backward pass, or empty where the IR says so."""
    decay = jnp.exp(-jnp.abs(x))
    result = jnp.minimum(x, 0) - jnp.log1p(decay)
    buffer = decay if out[1].shape == x.shape else jnp.zeros(out[1].static_shape, x.dtype)
    return result, buffer
