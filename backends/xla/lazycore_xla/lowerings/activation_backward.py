"""Gradients of activation functions, in ATen's own form."""

from __future__ import annotations

import math

import jax.numpy as jnp
from jax import lax

from lazycore_xla.lowerings.activation import GELU_CUBIC
from lazycore_xla.lowerings.operands import Array, Scalar, as_dtype
from lazycore_xla.registry import lowering

__all__: list[str] = []


def _sigmoid(x: Array) -> Array:
    return 1 / (1 + jnp.exp(-x))


def _where_or_zero(condition: Array, gradient: Array) -> Array:
    return jnp.where(condition, gradient, jnp.zeros_like(gradient))


@lowering("aten.threshold_backward.default")
def _threshold(gradient: Array, x: Array, threshold: Scalar) -> Array:
    return _where_or_zero(~(x <= as_dtype(threshold, x.dtype)), gradient)


@lowering("aten.sigmoid_backward.default", widen=True)
def _sigmoid_backward(gradient: Array, y: Array) -> Array:
    return gradient * (1 - y) * y


@lowering("aten.tanh_backward.default", widen=True)
def _tanh(gradient: Array, y: Array) -> Array:
    return gradient * (1 - y * y)


@lowering("aten.gelu_backward.default", widen=True)
def _gelu(gradient: Array, x: Array, *, approximate: str) -> Array:
    return gradient * (_gelu_tanh_slope(x) if approximate == "tanh" else _gelu_erf_slope(x))


def _gelu_erf_slope(x: Array) -> Array:
    density = math.sqrt(0.5 / math.pi) * jnp.exp(-0.5 * x * x)
    return 0.5 * (1 + lax.erf(x * math.sqrt(0.5))) + x * density


def _gelu_tanh_slope(x: Array) -> Array:
    scale = math.sqrt(2 / math.pi)
    t = jnp.tanh(scale * (x + GELU_CUBIC * x * x * x))
    inner_slope = scale * (1 + 3 * GELU_CUBIC * x * x)
    return 0.5 * (1 + t) + 0.5 * x * (1 - t * t) * inner_slope


@lowering("aten.silu_backward.default", widen=True)
def _silu(gradient: Array, x: Array) -> Array:
    s = _sigmoid(x)
    return gradient * s * (1 + x * (1 - s))


@lowering("aten.mish_backward.default", widen=True)
def _mish(gradient: Array, x: Array) -> Array:
    t = jnp.tanh(jnp.log1p(jnp.exp(x)))
    return gradient * (t + x * _sigmoid(x) * (1 - t * t))


@lowering("aten.hardtanh_backward.default")
def _hardtanh(gradient: Array, x: Array, low: Scalar, high: Scalar) -> Array:
    outside = (x <= as_dtype(low, x.dtype)) | (x >= as_dtype(high, x.dtype))
    return _where_or_zero(~outside, gradient)


@lowering("aten.leaky_relu_backward.default", widen=True)
def _leaky_relu(gradient: Array, x: Array, slope: Scalar, is_result: bool) -> Array:  # noqa: ARG001
    """The result has the sign of its input, so that either decides."""
    return jnp.where(x > 0, gradient, gradient * as_dtype(slope, x.dtype))


@lowering("aten.elu_backward.default", widen=True)
def _elu(gradient: Array, alpha: Scalar, scale: Scalar, input_scale: Scalar, is_result: bool, x: Array) -> Array:
    a, s, i = (as_dtype(v, x.dtype) for v in (alpha, scale, input_scale))
    below = gradient * i * (x + a * s) if is_result else gradient * i * (a * s) * jnp.exp(x * i)
    return jnp.where(x <= 0, below, gradient * s)


@lowering("aten.softplus_backward.default", widen=True)
def _softplus(gradient: Array, x: Array, beta: Scalar, threshold: Scalar) -> Array:
    scaled = x * as_dtype(beta, x.dtype)
    z = jnp.exp(scaled)
    return jnp.where(scaled > as_dtype(threshold, x.dtype), gradient, gradient * z / (z + 1))


@lowering("aten.log_sigmoid_backward.default", widen=True)
def _log_sigmoid(gradient: Array, x: Array, buffer: Array) -> Array:  # noqa: ARG001
    """The saved buffer may be empty: exp(-|x|) is computed anew, which fuses."""
    decay = jnp.exp(-jnp.abs(x))
    tail = decay / (1 + decay)
    return gradient * jnp.where(x < 0, 1 - tail, tail)


@lowering("aten.hardswish_backward.default", widen=True)
def _hardswish(gradient: Array, x: Array) -> Array:
    inner = gradient * (x / 3 + 0.5)
    return jnp.where(x < -3, jnp.zeros_like(gradient), jnp.where(x <= 3, inner, gradient))


@lowering("aten.hardsigmoid_backward.default", widen=True)
def _hardsigmoid(gradient: Array, x: Array) -> Array:
    return _where_or_zero((x > -3) & (x < 3), gradient / 6)


@lowering("aten.hardshrink_backward.default", "aten.softshrink_backward.default")
def _shrink(gradient: Array, x: Array, lambd: Scalar) -> Array:
    limit = as_dtype(lambd, x.dtype)
    inside = (x >= -limit) & (x <= limit)
    return jnp.where(inside, jnp.zeros_like(gradient), gradient)


@lowering("aten.rrelu_with_noise_backward.default", widen=True)
def _rrelu(
    gradient: Array, x: Array, noise: Array, lower: Scalar, upper: Scalar, training: bool, is_result: bool
) -> Array:
    """In training the noise holds each element's slope, 1 for positive ones; otherwise the slope is the mean one."""
    low, high = as_dtype(lower, x.dtype), as_dtype(upper, x.dtype)
    slope: Array = _leaky_relu(gradient, x, (low + high) / 2, is_result)
    return jnp.where(high - low > 1e-6, gradient * noise, slope) if training else slope


@lowering("aten.native_dropout_backward.default", widen=True)
def _dropout(gradient: Array, mask: Array, scale: Scalar) -> Array:
    return gradient * mask.astype(gradient.dtype) * as_dtype(scale, gradient.dtype)
