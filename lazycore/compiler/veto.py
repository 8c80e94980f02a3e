"""The cost veto: one op alone between two large regions of another backend may cost more in crossings than it saves.

The costs are in operations on elements, of the magnitude of a CPU core: a crossing stands for a launch and the wait
before it, a byte for its way through memory and back.
"""

from __future__ import annotations

from collections.abc import Sequence

from lazycore_plugin_api import Graph, Node, Rejected

from lazycore.compiler.annotate import Annotator
from lazycore.compiler.estimate import flops
from lazycore.compiler.sizes import nbytes
from lazycore.compiler.unit import Unit

__all__ = ["CROSSING", "LARGE", "PER_BYTE", "veto"]

CROSSING = 100_000
"""What handing a value to another backend costs before its first byte."""
PER_BYTE = 2
"""What each byte of it costs."""
LARGE = 16
"""Ops from which on a region is large: smaller ones are no measure of what an op in between is worth."""


def veto(graph: Graph, units: Sequence[Unit], annotator: Annotator) -> bool:
    """Take from its backend every op that

    - is a unit by itself and no composite (of those a backend has said that it wants them whole),
    - reads only from large units of one other backend, and is read only by such,
    - is taken by that backend too, and costs more in crossings than it computes.

    Whether there was any; the graph is then to be partitioned anew.
    """
    neighbours = _Neighbours(graph, units)
    found = False
    for position, unit in enumerate(units):
        if unit.backend is None or len(unit.nodes) > 1:
            continue
        node = graph.nodes[unit.nodes[0]]
        other = neighbours.around(position)
        if other is None or node.body is not None or isinstance(annotator.decision(node, other), Rejected):
            continue
        reason = _too_dear(node, annotator.backends[other].name)
        if reason is not None:
            annotator.exclude(unit.backend, [node], reason)
            found = True
    return found


class _Neighbours:
    def __init__(self, graph: Graph, units: Sequence[Unit]) -> None:
        home = {v.id: u for u, unit in enumerate(units) for i in unit.nodes for v in graph.nodes[i].outputs}
        self._units = units
        self._before: list[set[int]] = [set() for _ in units]
        self._behind: list[set[int]] = [set() for _ in units]
        for u, unit in enumerate(units):
            for value in (v for i in unit.nodes for v in graph.nodes[i].inputs()):
                writer = home.get(value.id, u)
                if writer != u:
                    self._before[u].add(writer)
                    self._behind[writer].add(u)

    def around(self, position: int) -> int | None:
        """The one backend whose large units are all the neighbours, on both sides of the unit; None otherwise."""
        before, behind = self._before[position], self._behind[position]
        if not before or not behind:
            return None
        neighbours = [self._units[u] for u in before | behind]
        backend = neighbours[0].backend
        alike = all(n.backend == backend and len(n.nodes) >= LARGE for n in neighbours)
        return backend if alike and backend != self._units[position].backend else None


def _too_dear(node: Node, neighbour: str) -> Rejected | None:
    crossing = {value.id: value for value in (*node.inputs(), *node.outputs)}.values()
    count, size, work = len(crossing), nbytes(crossing), flops(node)
    if work >= count * CROSSING + size * PER_BYTE:
        return None
    return Rejected(
        "cost",
        f"alone between two large regions of {neighbour}, its {count} crossings of {size} bytes cost more than its "
        f"{work} operations",
    )
