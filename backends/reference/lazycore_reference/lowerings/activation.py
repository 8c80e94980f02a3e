"""Activations."""

# To mypy, arithmetic on arrays of any dtype is Any.
# mypy: disable-error-code="no-any-return"

from __future__ import annotations

import math
from typing import Any

import numpy as np
from lazycore_plugin_api import TensorSpec

from lazycore_reference.lowerings.binary import number
from lazycore_reference.registry import Array, lowering
from lazycore_reference.special import erf

SQRT_HALF = math.sqrt(0.5)
SQRT_2_OVER_PI = math.sqrt(2 / math.pi)
CUBIC = 0.044715


@lowering("aten.silu.default")
def silu(x: Array) -> Array:
    """x * sigmoid(x)."""
    return x / (1 + np.exp(-x))


@lowering("aten.mish.default")
def mish(x: Array) -> Array:
    """x * tanh(log(1 + exp(x)))."""
    return x * np.tanh(np.log1p(np.exp(x)))


@lowering("aten.gelu.default")
def gelu(x: Array, *, approximate: str = "none") -> Array:
    """x times the normal distribution function, exact by erf or by the tanh formula."""
    if approximate == "tanh":
        return 0.5 * x * (1 + np.tanh(SQRT_2_OVER_PI * (x + CUBIC * x * x * x)))
    return x * 0.5 * (1 + erf(x * SQRT_HALF))


@lowering("aten.hardswish.default")
def hardswish(x: Array) -> Array:
    """x * clamp(x + 3, 0, 6) / 6."""
    return x * np.minimum(np.maximum(x + 3, 0), 6) / 6


@lowering("aten.hardsigmoid.default")
def hardsigmoid(x: Array) -> Array:
    """clamp(x + 3, 0, 6) / 6."""
    return np.minimum(np.maximum(x + 3, 0), 6) / 6


@lowering("aten.leaky_relu.default")
def leaky_relu(x: Array, slope: Any) -> Array:
    """x where positive, else slope * x."""
    return np.where(x > 0, x, x * number(slope, x))


@lowering("aten.elu.default")
def elu(x: Array, alpha: Any, scale: Any, input_scale: Any) -> Array:
    """scale * x where positive, else scale * alpha * (exp(input_scale * x) - 1)."""
    alpha, scale, input_scale = number(alpha, x), number(scale, x), number(input_scale, x)
    return np.where(x <= 0, np.expm1(x * input_scale) * (alpha * scale), x * scale)


@lowering("aten.softplus.default")
def softplus(x: Array, beta: Any, threshold: Any) -> Array:
    """log(1 + exp(beta * x)) / beta, x itself where beta * x exceeds the threshold."""
    beta, scaled = number(beta, x), x * number(beta, x)
    return np.where(scaled > number(threshold, x), x, np.log1p(np.exp(scaled)) / beta)


@lowering("aten.log_sigmoid_forward.default", specs=True)
def log_sigmoid_forward(x: Array, *, specs: tuple[TensorSpec, ...]) -> tuple[Array, Array | None]:
    """log(sigmoid(x)), and exp(-abs(x)) which the backward may use (an empty buffer where none is declared)."""
    tail = np.exp(-np.abs(x))
    return np.minimum(x, 0) - np.log1p(tail), tail if specs[1].shape == x.shape else None
