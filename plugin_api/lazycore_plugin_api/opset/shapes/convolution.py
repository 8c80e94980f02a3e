"""Convolutions and their gradients."""

from __future__ import annotations

from lazycore_plugin_api.opset.rule import Call, Sizes, Unfit, rule
from lazycore_plugin_api.opset.shapes.dims import Shapes, repeated

__all__ = ["convolved", "convolved_backward"]


@rule
def convolved(call: Call) -> Shapes:
    """Batch, output channels, one size per spatial dimension."""
    return (_convolved(call),)


def _convolved(call: Call) -> Sizes:
    x, weight, groups = call.shape("input"), call.shape("weight"), call["groups"]
    transposed = call["transposed"]
    if len(x) != len(weight) or len(x) < 3:
        raise Unfit(f"convolves {list(x)} with {list(weight)}")
    inputs, outputs = (weight[0], weight[1] * groups) if transposed else (weight[1] * groups, weight[0])
    if x[1] != inputs:
        raise Unfit(f"has {x[1]} input channels, and weights {list(weight)} in {groups} groups for {inputs}")
    lists = (call[name] for name in ("stride", "padding", "dilation", "output_padding"))
    windows = zip(x[2:], weight[2:], *(repeated(numbers, len(x) - 2) for numbers in lists), strict=True)
    return (x[0], outputs, *((_transposed if transposed else _size)(*window) for window in windows))


def _size(size: int, kernel: int, stride: int, padding: int, dilation: int, _: int) -> int:
    return (size + 2 * padding - dilation * (kernel - 1) - 1) // stride + 1


def _transposed(size: int, kernel: int, stride: int, padding: int, dilation: int, extra: int) -> int:
    return (size - 1) * stride - 2 * padding + dilation * (kernel - 1) + extra + 1


@rule
def convolved_backward(call: Call) -> Shapes:
    """The gradients for input, weight and bias that ``output_mask`` asks for."""
    out = _convolved(call)
    if call.shape("grad_output") != out:
        raise Unfit(f"has grad_output {list(call.shape('grad_output'))} of a result {list(out)}")
    shapes = (call.shape("input"), call.shape("weight"), (out[1],))
    return tuple(shape if asked else None for shape, asked in zip(shapes, call["output_mask"], strict=True))
