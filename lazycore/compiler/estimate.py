"""A guess of what a segment costs, for a backend that would rather leave some segments to others, and for the veto."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import prod

from lazycore_plugin_api import Estimate, Node, Segment, Value

from lazycore.compiler.sizes import nbytes, numel, sizes

__all__ = ["estimate", "flops"]


def estimate(segment: Segment, inner: frozenset[int]) -> Estimate:
    """The segment's cost. ``inner``: ids of values that one step of the plan hands to another, so that they count as
    crossings."""
    crossing = [value for value in (*segment.inputs, *segment.outputs) if value.id in inner]
    return Estimate(
        flops=sum(map(flops, segment.nodes)),
        bytes_in=nbytes(segment.inputs),
        bytes_out=nbytes(segment.outputs),
        crossings=len(crossing),
        crossing_bytes=nbytes(crossing),
    )


def flops(node: Node) -> int:
    """Operations on elements: of a product the exact number, of all else one for each element it reads or writes."""
    if node.body is not None:
        return sum(map(flops, node.body.nodes))
    rule = _RULES.get(node.base)
    if rule is not None:
        return rule(node)
    return max(numel(value) for value in (*node.inputs(), *node.outputs))


def _product(left: int) -> Callable[[Node], int]:
    """Two operations per output element and per element of the contracted dimension, the last of argument ``left``."""

    def rule(node: Node) -> int:
        operand = node.args[left]
        return 2 * numel(node.outputs[0]) * sizes(operand)[-1] if isinstance(operand, Value) else 0

    return rule


def _convolution(node: Node) -> int:
    weight = node.args[1]
    return 2 * numel(node.outputs[0]) * prod(sizes(weight)[1:]) if isinstance(weight, Value) else 0


def _convolution_backward(node: Node) -> int:
    gradient, _, weight = node.args[:3]
    if not isinstance(gradient, Value) or not isinstance(weight, Value):
        return 0
    return 4 * numel(gradient) * prod(sizes(weight)[1:])


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
