"""Small operations on SSA nodes that several passes need."""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence
from dataclasses import replace

from lazycore_plugin_api import Argument, Graph, Node, Value

__all__ = ["distinct_inputs", "first_free_id", "in_order", "rewire", "substitute"]


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


def in_order(nodes: Sequence[Node]) -> list[Node]:
    """The nodes, each behind those it reads from; among the possible orders the one closest to the given. There must
    be no cycle."""
    writer = {out.id: i for i, node in enumerate(nodes) for out in node.outputs}
    sources = [{writer[v.id] for v in node.inputs() if v.id in writer} for node in nodes]
    readers: list[list[int]] = [[] for _ in nodes]
    for i, before in enumerate(sources):
        for j in before:
            readers[j].append(i)
    waiting = [len(before) for before in sources]
    ready = [i for i, n in enumerate(waiting) if n == 0]
    heapq.heapify(ready)
    order: list[Node] = []
    while ready:
        i = heapq.heappop(ready)
        order.append(nodes[i])
        for r in readers[i]:
            waiting[r] -= 1
            if waiting[r] == 0:
                heapq.heappush(ready, r)
    return order
