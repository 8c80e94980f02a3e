"""Small operations on SSA nodes that several passes need."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from lazycore_plugin_api import Argument, Graph, Node, Value

__all__ = ["distinct_inputs", "first_free_id", "rewire", "substitute"]


def distinct_inputs(node: Node) -> tuple[Value, ...]:
    """The values a node reads, each once, in order of first use."""
    return tuple({value.id: value for value in node.inputs()}.values())


def first_free_id(graph: Graph) -> int:
    """The smallest id above every value's of the graph."""
    values = [*graph.inputs, *(out for node in graph.nodes for out in node.outputs)]
    return 1 + max((value.id for value in values), default=-1)


def substitute(argument: Argument, values: Mapping[int, Value]) -> Argument:
    """The argument with the values whose ids are in ``values`` exchanged."""
    if isinstance(argument, Value):
        return values.get(argument.id, argument)
    if isinstance(argument, tuple):
        return tuple(substitute(item, values) for item in argument)
    return argument


def rewire(node: Node, values: Mapping[int, Value]) -> Node:
    """The node reading other values; the very same node where it reads none of them."""
    if not any(value.id in values for value in node.inputs()):
        return node
    args = tuple(substitute(argument, values) for argument in node.args)
    return replace(node, args=args, kwargs={k: substitute(a, values) for k, a in node.kwargs.items()})
