"""Gradients of activations: ``grad`` is the result's gradient, ``x`` the operand, ``y`` the result."""

# Signatures are ATen's, also where an argument does not matter here.
# ruff: noqa: ARG001
# To mypy, arithmetic on arrays of any dtype is Any.
# mypy: disable-error-code="no-any-return"

from __future__ import annotations

import math
from typing import Any

import numpy as np

from lazycore_reference.lowerings.activation import CUBIC, SQRT_2_OVER_PI, SQRT_HALF
from lazycore_reference.lowerings.binary import number
from lazycore_reference.lowerings.unary import sigmoid
from lazycore_reference.registry import Array, lowering
from lazycore_reference.special import erf


@lowering("aten.threshold_backward.default")
def threshold_backward(grad: Array, x: Array, limit: Any) -> Array:
    """The gradient where x > limit (or is NaN), else 0."""
    return np.where(x <= number(limit, x), number(0, grad), grad)


@lowering("aten.sigmoid_backward.default")
def sigmoid_backward(grad: Array, y: Array) -> Array:
    """grad * y * (1 - y)."""
    return grad * (1 - y) * y


@lowering("aten.tanh_backward.default")
def tanh_backward(grad: Array, y: Array) -> Array:
    """grad * (1 - y**2)."""
    return grad * (1 - y * y)


@lowering("aten.gelu_backward.default")
def gelu_backward(grad: Array, x: Array, *, approximate: str = "none") -> Array:
    """grad * (cdf + x * pdf), or the derivative of the tanh formula."""
    if approximate == "tanh":
        inner = np.tanh(SQRT_2_OVER_PI * (x + CUBIC * x * x * x))
        slope = SQRT_2_OVER_PI * (1 + 3 * CUBIC * x * x)
        return grad * (0.5 * (1 + inner) + 0.5 * x * (1 - inner * inner) * slope)
    density = np.exp(-0.5 * x * x) / math.sqrt(2 * math.pi)
    return grad * (0.5 * (1 + erf(x * SQRT_HALF)) + x * density)


@lowering("aten.silu_backward.default")
def silu_backward(grad: Array, x: Array) -> Array:
    """grad * s * (1 + x * (1 - s)) with s = sigmoid(x)."""
    s = sigmoid(x)
    return grad * s * (1 + x * (1 - s))


@lowering("aten.mish_backward.default")
def mish_backward(grad: Array, x: Array) -> Array:
    """grad * (t + x * s * (1 - t**2)) with t = tanh(softplus(x)), s = sigmoid(x)."""
    t = np.tanh(np.log1p(np.exp(x)))
    return grad * (t + x * sigmoid(x) * (1 - t * t))


@lowering("aten.hardtanh_backward.default")
def hardtanh_backward(grad: Array, x: Array, low: Any, high: Any) -> Array:
    """The gradient strictly between the bounds (and of NaN), else 0."""
    return np.where((x <= number(low, x)) | (x >= number(high, x)), number(0, grad), grad)


@lowering("aten.hardswish_backward.default")
def hardswish_backward(grad: Array, x: Array) -> Array:
    """0 up to -3, grad from 3 on, grad * (x / 3 + 1/2) between."""
    return np.where(x <= -3, number(0, grad), np.where(x < 3, grad * (x / 3 + 0.5), grad))


@lowering("aten.hardsigmoid_backward.default")
def hardsigmoid_backward(grad: Array, x: Array) -> Array:
    """grad / 6 strictly between -3 and 3, else 0."""
    return np.where((x > -3) & (x < 3), grad / 6, number(0, grad))


@lowering("aten.leaky_relu_backward.default")
def leaky_relu_backward(grad: Array, x: Array, slope: Any, from_result: bool) -> Array:
    """grad where positive, else slope * grad; operand and result have the same sign."""
    return np.where(x > 0, grad, grad * number(slope, grad))


@lowering("aten.elu_backward.default")
def elu_backward(grad: Array, alpha: Any, scale: Any, input_scale: Any, from_result: bool, x: Array) -> Array:
    """The derivative of elu at the operand, or from the result where ``from_result`` says that x is one."""
    alpha, scale, input_scale = number(alpha, x), number(scale, x), number(input_scale, x)
    curve = x + alpha * scale if from_result else alpha * scale * np.exp(x * input_scale)
    return np.where(x <= 0, grad * input_scale * curve, grad * scale)


@lowering("aten.softplus_backward.default")
def softplus_backward(grad: Array, x: Array, beta: Any, threshold: Any) -> Array:
    """grad * sigmoid(beta * x), grad itself where beta * x exceeds the threshold."""
    scaled = x * number(beta, x)
    z = np.exp(scaled)
    return np.where(scaled > number(threshold, x), grad, grad * z / (z + 1))


@lowering("aten.log_sigmoid_backward.default")
def log_sigmoid_backward(grad: Array, x: Array, buffer: Array) -> Array:
    """grad * sigmoid(-x); the forward's buffer is not needed."""
    z = np.exp(-np.abs(x))
    return grad * np.where(x < 0, 1 - z / (1 + z), z / (1 + z))
