"""Decompose what no backend takes, where every piece is then taken by one; the rest stays whole and runs eagerly."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import count

from lazycore_plugin_api import Graph, Node, Value, verify

from lazycore.compiler.annotate import Annotator
from lazycore.compiler.protocols import Decompose
from lazycore.compiler.rewrites import drop_dead_nodes
from lazycore.compiler.ssa import distinct_inputs, first_free_id, rewire

__all__ = ["MAX_DEPTH", "legalize"]

MAX_DEPTH = 8
"""How often a piece of a piece is decomposed again. torch's decompositions nest three deep; the limit ends cycles."""


@dataclass(frozen=True)
class _Pieces:
    """What stands for a node: nodes that are all taken, and the values that replace its outputs."""

    nodes: list[Node]
    outputs: tuple[Value, ...]


def legalize(graph: Graph, annotator: Annotator, decompose: Decompose) -> Graph:
    """The graph with decomposable nodes replaced. Pieces get ids of their own and their node's source line.

    Raises InvalidGraph where a decomposition breaks a rule of the IR.
    """
    legalizer = _Legalizer(annotator, decompose, count(first_free_id(graph)))
    instead: dict[int, Value] = {}
    nodes: list[Node] = []
    for node in graph.nodes:
        node = rewire(node, instead)
        pieces = legalizer.expand(node, MAX_DEPTH)
        if pieces is None:
            nodes.append(node)
        else:
            nodes += pieces.nodes
            instead.update((i, value) for i, value in _pairs(node.outputs, pieces.outputs) if i != value.id)
    outputs = tuple(instead.get(value.id, value) for value in graph.outputs)
    return Graph(graph.inputs, nodes, outputs)


class _Legalizer:
    def __init__(self, annotator: Annotator, decompose: Decompose, ids: Iterator[int]) -> None:
        self.annotator = annotator
        self.decompose = decompose
        self.ids = ids

    def expand(self, node: Node, depth: int) -> _Pieces | None:
        """The node's pieces, itself where a backend takes it, None where some piece is taken by nobody."""
        if self.annotator(node).backend is not None:
            return _Pieces([node], node.outputs)
        if depth == 0:
            return None
        body = self.decompose(node)
        if body is None or not _fits(node, body):
            return None
        verify(body)
        return self._inline(node, drop_dead_nodes(body), depth)

    def _inline(self, node: Node, body: Graph, depth: int) -> _Pieces | None:
        values = dict(_pairs(body.inputs, distinct_inputs(node)))
        nodes: list[Node] = []
        for inner in body.nodes:
            outputs = tuple(Value(next(self.ids), out.spec) for out in inner.outputs)
            piece = replace(rewire(inner, values), outputs=outputs, source=node.source)
            pieces = self.expand(piece, depth - 1)
            if pieces is None:
                return None
            nodes += pieces.nodes
            values.update(_pairs(inner.outputs, pieces.outputs))
        return _Pieces(nodes, tuple(values[out.id] for out in body.outputs))


def _pairs(old: tuple[Value, ...], new: tuple[Value, ...]) -> Iterator[tuple[int, Value]]:
    return ((a.id, b) for a, b in zip(old, new, strict=True))


def _fits(node: Node, body: Graph) -> bool:
    # A decomposition that computes another shape or dtype than the op does (some of torch's do, for odd operands)
    # must not replace it.
    takes = [value.spec for value in distinct_inputs(node)] == [value.spec for value in body.inputs]
    return takes and [value.spec for value in node.outputs] == [value.spec for value in body.outputs]
