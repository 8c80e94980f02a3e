"""Make one composite node of a match."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace

from lazycore_plugin_api import COMPOSITE, Argument, Graph, Node, Value

from lazycore.compiler.patterns.matcher import Found
from lazycore.compiler.ssa import rewire

__all__ = ["Reads", "composite"]


@dataclass(frozen=True)
class _Members:
    """The nodes of a group in order, its literals copied, and what they write."""

    nodes: list[Node]
    written: frozenset[int]


class Reads:
    """Who reads the values of a graph."""

    def __init__(self, graph: Graph) -> None:
        self._handed_out = {value.id for value in graph.outputs}
        self._readers: defaultdict[int, list[int]] = defaultdict(list)
        for position, node in enumerate(graph.nodes):
            for value in node.inputs():
                self._readers[value.id].append(position)

    def outside(self, value: Value, members: Collection[int]) -> bool:
        """Whether the value is a graph output or read by a node that is not among ``members``."""
        return value.id in self._handed_out or any(r not in members for r in self._readers.get(value.id, ()))


def composite(graph: Graph, reads: Reads, found: Found, name: str, ids: Iterator[int]) -> Node:
    """The node ``<backend>.<pattern>.composite`` that stands for a match; ``name`` is its first two parts. Its
    outputs are the values of the group that somebody outside reads, those of the pattern's roots first."""
    members = _members(graph, found, ids)
    kwargs = _keywords(found, members)
    named = {a.id for a in kwargs.values() if isinstance(a, Value)}
    read = {v.id: v for node in members.nodes for v in node.inputs()}
    args = tuple(v for i, v in read.items() if i not in named and i not in members.written)
    outputs = _outputs(graph, reads, found)
    root = graph.nodes[max(found.roots)]
    shell = Node(f"{name}.{COMPOSITE}", args, kwargs, outputs, root.source)
    return replace(shell, body=Graph(_body_inputs(shell, ids), members.nodes, outputs))


def _members(graph: Graph, found: Found, ids: Iterator[int]) -> _Members:
    copies: dict[int, Value] = {}
    nodes: list[Node] = []
    for position in sorted({*found.nodes, *found.literals}):
        node = graph.nodes[position]
        if position not in found.nodes:
            # Others may read the literal too, so the group has its own.
            fresh = tuple(Value(next(ids), out.spec) for out in node.outputs)
            copies.update((old.id, new) for old, new in zip(node.outputs, fresh, strict=True))
            nodes.append(replace(node, outputs=fresh))
        else:
            nodes.append(rewire(node, copies))
    return _Members(nodes, frozenset(out.id for node in nodes for out in node.outputs))


def _keywords(found: Found, members: _Members) -> dict[str, Argument]:
    keywords: dict[str, Argument] = {}
    for name, value in found.values.items():
        if name in found.numbers:
            keywords[name] = found.numbers[name]
        elif name not in found.named and value.id not in members.written:
            keywords[name] = value
    return keywords


def _outputs(graph: Graph, reads: Reads, found: Found) -> tuple[Value, ...]:
    order = sorted(found.nodes, key=lambda position: (position not in found.roots, position))
    written = (out for position in order for out in graph.nodes[position].outputs)
    return tuple(out for out in written if reads.outside(out, found.nodes))


def _body_inputs(shell: Node, ids: Iterator[int]) -> tuple[Value, ...]:
    seen: set[int] = set()
    inputs: list[Value] = []
    for value in shell.inputs():
        # An argument that is given twice has an input of its own, which the body does not read, for each further time.
        inputs.append(Value(next(ids), value.spec) if value.id in seen else value)
        seen.add(value.id)
    return tuple(inputs)
