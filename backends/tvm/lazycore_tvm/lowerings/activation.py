"""Activations and their gradients: ``grad`` is the result's gradient, ``x`` the operand, ``y`` the result."""

# Signatures are ATen's, also where an argument does not matter here.
# ruff: noqa: ARG001

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from lazycore_plugin_api import TensorSpec

from lazycore_tvm.arrays import Array, elementwise
from lazycore_tvm.lowerings.unary import sigmoid
from lazycore_tvm.operands import number
from lazycore_tvm.registry import BOOL, FLOATS, REAL, lowering
from lazycore_tvm.scalars import Expr, at_most, call, largest, like, negative, select, smallest, sub
from lazycore_tvm.tvm_runtime import tvm

tir = tvm.tirx

_SQRT_HALF = math.sqrt(0.5)
_SLOPE = math.sqrt(2 / math.pi)
_CUBIC = 0.044715


def _tanh_part(x: Expr) -> Expr:
    return call("tanh", like(_SLOPE, x) * (x + like(_CUBIC, x) * x * x * x))


def _cdf(x: Expr) -> Expr:
    return like(0.5, x) * (like(1, x) + call("erf", x * like(_SQRT_HALF, x)))


def _mish(x: Expr) -> Expr:
    return x * call("tanh", call("log1p", call("exp", x)))


def _ramp(x: Expr) -> Expr:
    return smallest(largest(x + like(3, x), like(0, x)), like(6, x))


_PLAIN: dict[str, Callable[[Expr], Expr]] = {
    "silu": lambda x: x / (like(1, x) + call("exp", negative(x))),
    "mish": _mish,
    "hardswish": lambda x: x * _ramp(x) / like(6, x),
    "hardsigmoid": lambda x: _ramp(x) / like(6, x),
}


def _of(function: Callable[..., Expr]) -> Callable[..., Array]:
    return lambda *operands: elementwise(function, *operands, dtype=operands[0].dtype)


for _name, _function in _PLAIN.items():
    lowering(_name, dtypes=FLOATS)(_of(_function))


@lowering("gelu", dtypes=FLOATS)
def gelu(x: Array, *, approximate: str = "none") -> Array:
    """x times the normal distribution function, exact by erf or by the tanh formula."""
    if approximate == "tanh":
        return elementwise(lambda v: like(0.5, v) * v * (like(1, v) + _tanh_part(v)), x, dtype=x.dtype)
    return elementwise(lambda v: v * _cdf(v), x, dtype=x.dtype)


@lowering("leaky_relu", dtypes=FLOATS)
def leaky_relu(x: Array, slope: Any) -> Array:
    """x where positive, else slope * x."""
    return elementwise(lambda v, s: select(v > like(0, v), v, v * s), x, number(slope, x), dtype=x.dtype)


@lowering("elu", dtypes=FLOATS)
def elu(x: Array, alpha: Any, scale: Any, input_scale: Any) -> Array:
    """scale * x where positive, else scale * alpha * (exp(input_scale * x) - 1)."""

    def at(v: Expr, a: Expr, s: Expr, i: Expr) -> Expr:
        return select(at_most(v, like(0, v)), call("expm1", v * i) * (a * s), v * s)

    return elementwise(at, x, *(number(n, x) for n in (alpha, scale, input_scale)), dtype=x.dtype)


@lowering("softplus", dtypes=FLOATS)
def softplus(x: Array, beta: Any, threshold: Any) -> Array:
    """log(1 + exp(beta * x)) / beta, x itself where beta * x exceeds the threshold."""

    def at(v: Expr, b: Expr, limit: Expr) -> Expr:
        return select(v * b > limit, v, call("log1p", call("exp", v * b)) / b)

    return elementwise(at, x, number(beta, x), number(threshold, x), dtype=x.dtype)


def _tail(x: Expr) -> Expr:
    return call("exp", negative(tir.abs(x)))


@lowering("log_sigmoid_forward", dtypes=FLOATS, needs_out=True)
def log_sigmoid_forward(x: Array, *, out: list[TensorSpec]) -> tuple[Array, Array | None]:
    """log(sigmoid(x)), and exp(-abs(x)) which the backward may use (an empty buffer where none is declared)."""
    result = elementwise(lambda v: sub(smallest(v, like(0, v)), call("log1p", _tail(v))), x, dtype=x.dtype)
    return result, elementwise(_tail, x, dtype=x.dtype) if out[1].shape == x.shape else None


def _gelu_slope(x: Expr) -> Expr:
    density = call("exp", like(-0.5, x) * x * x) * like(1 / math.sqrt(2 * math.pi), x)
    return _cdf(x) + x * density


def _tanh_gelu_slope(x: Expr) -> Expr:
    inner = _tanh_part(x)
    slope = like(_SLOPE, x) * (like(1, x) + like(3 * _CUBIC, x) * x * x)
    half = like(0.5, x)
    return half * (like(1, x) + inner) + half * x * sub(like(1, x), inner * inner) * slope


@lowering("gelu_backward", dtypes=FLOATS)
def gelu_backward(grad: Array, x: Array, *, approximate: str = "none") -> Array:
    """grad * (cdf + x * pdf), or the derivative of the tanh formula."""
    slope = _tanh_gelu_slope if approximate == "tanh" else _gelu_slope
    return elementwise(lambda g, v: g * slope(v), grad, x, dtype=grad.dtype)


def _silu_gradient(g: Expr, x: Expr) -> Expr:
    s = sigmoid(x)
    return g * s * (like(1, x) + x * sub(like(1, x), s))


def _mish_gradient(g: Expr, x: Expr) -> Expr:
    t = call("tanh", call("log1p", call("exp", x)))
    return g * (t + x * sigmoid(x) * sub(like(1, x), t * t))


def _hardswish_gradient(g: Expr, x: Expr) -> Expr:
    inner = g * (x / like(3, x) + like(0.5, x))
    return select(at_most(x, like(-3, x)), like(0, g), select(x < like(3, x), inner, g))


def _hardsigmoid_gradient(g: Expr, x: Expr) -> Expr:
    return select(tir.all(x > like(-3, x), x < like(3, x)), g / like(6, g), like(0, g))


_GRADIENTS: dict[str, Callable[[Expr, Expr], Expr]] = {
    "sigmoid_backward": lambda g, y: g * sub(like(1, y), y) * y,
    "tanh_backward": lambda g, y: g * sub(like(1, y), y * y),
    "silu_backward": _silu_gradient,
    "mish_backward": _mish_gradient,
    "hardswish_backward": _hardswish_gradient,
    "hardsigmoid_backward": _hardsigmoid_gradient,
}

for _name, _gradient in _GRADIENTS.items():
    lowering(_name, dtypes=FLOATS)(_of(_gradient))


@lowering("threshold_backward", dtypes=REAL - BOOL)
def threshold_backward(grad: Array, x: Array, limit: Any) -> Array:
    """The gradient where x > limit (or is NaN), else 0."""
    return elementwise(
        lambda g, v, b: select(at_most(v, b), like(0, g), g), grad, x, number(limit, x), dtype=grad.dtype
    )


@lowering("hardtanh_backward", dtypes=FLOATS)
def hardtanh_backward(grad: Array, x: Array, low: Any, high: Any) -> Array:
    """The gradient strictly between the bounds (and of NaN), else 0."""

    def at(g: Expr, v: Expr, a: Expr, b: Expr) -> Expr:
        return select(tir.any(at_most(v, a), at_most(b, v)), like(0, g), g)

    return elementwise(at, grad, x, number(low, x), number(high, x), dtype=grad.dtype)


@lowering("leaky_relu_backward", dtypes=FLOATS)
def leaky_relu_backward(grad: Array, x: Array, slope: Any, from_result: bool) -> Array:
    """grad where positive, else slope * grad; operand and result have the same sign."""
    at = lambda g, v, s: select(v > like(0, v), g, g * s)  # noqa: E731
    return elementwise(at, grad, x, number(slope, grad), dtype=grad.dtype)


@lowering("elu_backward", dtypes=FLOATS)
def elu_backward(grad: Array, alpha: Any, scale: Any, input_scale: Any, from_result: bool, x: Array) -> Array:
    """The derivative of elu at the operand, or from the result where ``from_result`` says that x is one."""

    def at(g: Expr, v: Expr, a: Expr, s: Expr, i: Expr) -> Expr:
        curve = v + a * s if from_result else a * s * call("exp", v * i)
        return select(at_most(v, like(0, v)), g * i * curve, g * s)

    return elementwise(at, grad, x, *(number(n, x) for n in (alpha, scale, input_scale)), dtype=grad.dtype)


@lowering("softplus_backward", dtypes=FLOATS)
def softplus_backward(grad: Array, x: Array, beta: Any, threshold: Any) -> Array:
    """grad * sigmoid(beta * x), grad itself where beta * x exceeds the threshold."""

    def at(g: Expr, v: Expr, b: Expr, limit: Expr) -> Expr:
        z = call("exp", v * b)
        return select(v * b > limit, g, g * z / (z + like(1, z)))

    return elementwise(at, grad, x, number(beta, x), number(threshold, x), dtype=grad.dtype)


@lowering("log_sigmoid_backward", dtypes=FLOATS, empty=True)
def log_sigmoid_backward(grad: Array, x: Array, buffer: Array) -> Array:
    """grad * sigmoid(-x); the forward's buffer is not needed."""

    def at(g: Expr, v: Expr) -> Expr:
        z = _tail(v)
        share = z / (like(1, z) + z)
        return g * select(v < like(0, v), sub(like(1, z), share), share)

    return elementwise(at, grad, x, dtype=grad.dtype)
