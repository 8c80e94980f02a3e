"""Take composites apart again: their bodies' nodes in their place, under ids of the graph's own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import count

from lazycore_plugin_api import Graph, Node, Value

from lazycore.compiler.ssa import first_free_id, rewire

__all__ = ["dissolve"]


def dissolve(graph: Graph, unwanted: Callable[[Node], bool], legal: Callable[[Graph], Graph] = lambda g: g) -> Graph:
    """The graph without the composites that are ``unwanted``; ``legal`` is applied to each body first. All other nodes
    stay the very same, so that whatever is known of them stays true, unless a body hands out one of its inputs."""
    ids = count(first_free_id(graph))
    instead: dict[int, Value] = {}
    nodes: list[Node] = []
    for node in graph.nodes:
        current = rewire(node, instead)
        if current.body is None or not unwanted(node):
            nodes.append(current)
        else:
            nodes += _inlined(current, legal(current.body), ids, instead)
    outputs = tuple(instead.get(value.id, value) for value in graph.outputs)
    return Graph(graph.inputs, nodes, outputs)


def _inlined(node: Node, body: Graph, ids: Iterator[int], instead: dict[int, Value]) -> list[Node]:
    values = {inner.id: outer for inner, outer in zip(body.inputs, node.inputs(), strict=True)}
    given: dict[int, Value] = {}
    for inner, outer in zip(body.outputs, node.outputs, strict=True):
        given.setdefault(inner.id, outer)
    nodes: list[Node] = []
    for item in body.nodes:
        outputs = tuple(given.get(out.id) or Value(next(ids), out.spec) for out in item.outputs)
        nodes.append(replace(rewire(item, values), outputs=outputs))
        values.update((old.id, new) for old, new in zip(item.outputs, outputs, strict=True))
    for inner, outer in zip(body.outputs, node.outputs, strict=True):
        if values[inner.id] != outer:
            instead[outer.id] = values[inner.id]
    return nodes
