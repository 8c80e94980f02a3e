"""Computing once what a program spells out twice, as the gradient of an attention does with its weights."""

from __future__ import annotations

import struct
from collections.abc import Hashable

from lazycore_plugin_api import Argument, Graph, Node, Value

from lazycore.compiler.ssa import rewire

__all__ = ["merge_duplicates"]


def merge_duplicates(graph: Graph) -> Graph:
    """Leave out nodes that compute what one before them does, except those that write a graph output: what the trace
    hands out become storages of their own. Only ATen's ops are known to depend on nothing but their operands."""
    handed_out = {value.id for value in graph.outputs}
    instead: dict[int, Value] = {}
    known: dict[Hashable, Node] = {}
    kept: list[Node] = []
    for node in graph.nodes:
        node = rewire(node, instead)
        key = _key(node)
        first = known.setdefault(key, node) if node.op.startswith("aten.") else node
        if first is node or any(out.id in handed_out for out in node.outputs):
            kept.append(node)
        else:
            instead.update((out.id, value) for out, value in zip(node.outputs, first.outputs, strict=True))
    return Graph(graph.inputs, kept, graph.outputs)


def _key(node: Node) -> Hashable:
    kwargs = tuple((name, _exact(argument)) for name, argument in node.kwargs.items())
    return node.op, tuple(map(_exact, node.args)), kwargs, tuple(out.spec for out in node.outputs)


def _exact(argument: Argument) -> Hashable:
    """What equals only the same argument: True is not 1, 1 is not 1.0, 0.0 is not -0.0, NaN is NaN."""
    if isinstance(argument, Value):
        return Value, argument.id
    if isinstance(argument, (tuple, list)):
        return tuple(map(_exact, argument))
    if isinstance(argument, float):
        return float, struct.pack("d", argument)
    if isinstance(argument, complex):
        return complex, struct.pack("dd", argument.real, argument.imag)
    return type(argument), argument
