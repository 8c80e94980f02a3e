"""A guess of what a segment costs, for a backend that would rather leave some segments to others."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from math import prod

from lazycore_plugin_api import Dim, Estimate, Node, Segment, Value

__all__ = ["estimate"]


def estimate(segment: Segment, inner: frozenset[int]) -> Estimate:
    """The segment's cost. ``inner``: ids of values that one step of the plan hands to another, so that they count as
    crossings. A symbolic size counts as its lower bound, at least 1."""
    return Estimate(
        flops=sum(_flops(node) for node in segment.nodes),
        bytes_in=_nbytes(segment.inputs),
        bytes_out=_nbytes(segment.outputs),
        crossings=sum(value.id in inner for value in (*segment.inputs, *segment.outputs)),
    )


def _sizes(value: Value) -> tuple[int, ...]:
    return tuple(max(size.low, 1) if isinstance(size, Dim) else size for size in value.spec.shape)


def _numel(value: Value) -> int:
    return prod(_sizes(value))


def _nbytes(values: Iterable[Value]) -> int:
    return sum(_numel(value) * value.spec.dtype.itemsize for value in values)


def _flops(node: Node) -> int:
    rule = _RULES.get(node.base)
    if rule is not None:
        return rule(node)
    return max(_numel(value) for value in (*node.inputs(), *node.outputs))


def _product(left: int) -> Callable[[Node], int]:
    """Two operations per output element and per element of the contracted dimension, the last of argument ``left``."""

    def rule(node: Node) -> int:
        operand = node.args[left]
        return 2 * _numel(node.outputs[0]) * _sizes(operand)[-1] if isinstance(operand, Value) else 0

    return rule


def _convolution(node: Node) -> int:
    weight = node.args[1]
    return 2 * _numel(node.outputs[0]) * prod(_sizes(weight)[1:]) if isinstance(weight, Value) else 0


def _convolution_backward(node: Node) -> int:
    gradient, _, weight = node.args[:3]
    if not isinstance(gradient, Value) or not isinstance(weight, Value):
        return 0
    return 4 * _numel(gradient) * prod(_sizes(weight)[1:])


_RULES: Mapping[str, Callable[[Node], int]] = {
    "aten.mm": _product(0),
    "aten.bmm": _product(0),
    "aten.addmm": _product(1),
    "aten.baddbmm": _product(1),
    "aten.mv": _product(0),
    "aten.dot": _product(0),
    "aten.linear": _product(0),
    "aten.matmul": _product(0),
    "aten.convolution": _convolution,
    "aten.convolution_backward": _convolution_backward,
}
