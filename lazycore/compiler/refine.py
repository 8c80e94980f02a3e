"""Move single nodes across the border between two units of one backend where fewer bytes then cross."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from lazycore_plugin_api import Graph, Value

from lazycore.compiler.sizes import nbytes
from lazycore.compiler.unit import Unit

__all__ = ["crossing_bytes", "refine"]


def refine(graph: Graph, units: Sequence[Unit]) -> list[Unit]:
    """The units, those left without a node dropped. A node goes down to the one unit that reads from it: nothing then
    waits for what it did not wait for before. (It need not go up: by levels it is with what it reads from.)"""
    borders = _Borders(graph, units)
    for node in reversed(range(len(graph.nodes))):
        borders.sink(node)
    return borders.result()


def crossing_bytes(graph: Graph, units: Sequence[Unit]) -> int:
    """The bytes of all values that a unit hands to another, counted for each unit that reads them."""
    borders = _Borders(graph, units)
    return borders.cost(value for node in graph.nodes for value in node.outputs)


class _Borders:
    def __init__(self, graph: Graph, units: Sequence[Unit]) -> None:
        self._graph = graph
        self._units = units
        self._home = {i: u for u, unit in enumerate(units) for i in unit.nodes}
        self._writer = {v.id: i for i, node in enumerate(graph.nodes) for v in node.outputs}
        self._readers: defaultdict[int, list[int]] = defaultdict(list)
        for i, node in enumerate(graph.nodes):
            for value in {v.id for v in node.inputs()}:
                self._readers[value].append(i)

    def sink(self, node: int) -> None:
        """Move the node to its only reader, if that is another unit of its backend and makes fewer bytes cross."""
        home = self._home[node]
        readers = {self._home[r] for v in self._graph.nodes[node].outputs for r in self._readers.get(v.id, ())}
        if len(readers) != 1 or home in readers:
            return
        (target,) = readers
        backend = self._units[home].backend
        if backend is None or self._units[target].backend != backend:
            return
        touched = {v.id: v for v in (*self._graph.nodes[node].inputs(), *self._graph.nodes[node].outputs)}
        before = self.cost(touched.values())
        self._home[node] = target
        if self.cost(touched.values()) >= before:
            self._home[node] = home

    def cost(self, values: Iterable[Value]) -> int:
        """The bytes of these values that cross."""
        return sum(nbytes([value]) * self._crossings(value) for value in values)

    def _crossings(self, value: Value) -> int:
        if value.id not in self._writer:
            return 0
        home = self._home[self._writer[value.id]]
        return len({self._home[r] for r in self._readers.get(value.id, ())} - {home})

    def result(self) -> list[Unit]:
        """The units as they are now."""
        nodes: list[list[int]] = [[] for _ in self._units]
        for i in sorted(self._home):
            nodes[self._home[i]].append(i)
        return [Unit(unit.backend, tuple(mine)) for unit, mine in zip(self._units, nodes, strict=True) if mine]
