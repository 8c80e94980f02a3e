"""Cut an annotated graph into units: convex groups of one backend's nodes, and single nodes that run eagerly.

First by levels, which is linear: level(node) = max over producers of (same placement -> their level, different ->
one more). What hangs together within one level and placement makes a unit; such units never depend on each other in a
circle. Then units of one backend are merged wherever no path leaves the first and comes back into the second, those
that hand each other the most bytes first, and nodes at the border go to the side where fewer bytes cross.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Sequence

from lazycore_plugin_api import Graph

from lazycore.compiler.merging import merge
from lazycore.compiler.refine import refine
from lazycore.compiler.sizes import nbytes
from lazycore.compiler.unit import Unit

__all__ = ["Unit", "partition"]


def partition(graph: Graph, placements: Sequence[int | None]) -> list[Unit]:
    """The graph's units in an order in which they can run; ``placements``: node -> backend position, None for eager.

    Every node is in exactly one unit.
    """
    if placements and placements[0] is not None and len(set(placements)) == 1:
        return [Unit(placements[0], tuple(range(len(placements))))]
    producers = _producers(graph)
    units = _merged(graph, _by_level(producers, placements), producers)
    # A node that moved may have been the only detour between two units.
    return _merged(graph, refine(graph, units), producers)


def _merged(graph: Graph, units: list[Unit], producers: list[set[int]]) -> list[Unit]:
    units = _in_order(units, producers)
    return _in_order(merge(units, _edges(units, producers), _weights(graph, units)), producers)


def _producers(graph: Graph) -> list[set[int]]:
    writer = {out.id: i for i, node in enumerate(graph.nodes) for out in node.outputs}
    return [{writer[v.id] for v in node.inputs() if v.id in writer} for node in graph.nodes]


def _by_level(producers: list[set[int]], placements: Sequence[int | None]) -> list[Unit]:
    levels: list[int] = []
    # Node -> the first one known of those it hangs together with.
    heads: list[int] = []
    for i, sources in enumerate(producers):
        levels.append(max((levels[j] + (placements[j] != placements[i]) for j in sources), default=0))
        heads.append(i)
        if placements[i] is None:
            continue
        for j in sources:
            if placements[j] == placements[i] and levels[j] == levels[i]:
                a, b = sorted((_head(heads, i), _head(heads, j)))
                heads[b] = a
    groups: dict[int, list[int]] = {}
    for i in range(len(producers)):
        groups.setdefault(_head(heads, i), []).append(i)
    keys = sorted(groups, key=lambda head: (levels[head], head))
    return [Unit(placements[head], tuple(groups[head])) for head in keys]


def _head(heads: list[int], i: int) -> int:
    while heads[i] != i:
        heads[i] = heads[heads[i]]
        i = heads[i]
    return i


def _edges(units: Sequence[Unit], producers: list[set[int]]) -> list[set[int]]:
    """Unit -> the units that it reads from."""
    unit_of = {i: u for u, unit in enumerate(units) for i in unit.nodes}
    return [{unit_of[j] for i in unit.nodes for j in producers[i]} - {u} for u, unit in enumerate(units)]


def _weights(graph: Graph, units: Sequence[Unit]) -> Counter[tuple[int, int]]:
    """(writing unit, reading unit) of one backend -> bytes handed over."""
    home = {v.id: (u, v) for u, unit in enumerate(units) for i in unit.nodes for v in graph.nodes[i].outputs}
    weights: Counter[tuple[int, int]] = Counter()
    for u, unit in enumerate(units):
        read = {v.id for i in unit.nodes for v in graph.nodes[i].inputs() if v.id in home}
        for writer, value in map(home.__getitem__, sorted(read)):
            if writer != u and unit.backend is not None and units[writer].backend == unit.backend:
                weights[writer, u] += nbytes([value])
    return weights


def _in_order(units: list[Unit], producers: list[set[int]]) -> list[Unit]:
    """Topological order; among units that are ready, the one whose first node comes first in the graph."""
    edges = _edges(units, producers)
    readers: list[list[int]] = [[] for _ in units]
    for u, sources in enumerate(edges):
        for s in sources:
            readers[s].append(u)
    waiting = [len(sources) for sources in edges]
    ready = [(units[u].nodes[0], u) for u, n in enumerate(waiting) if n == 0]
    heapq.heapify(ready)
    order: list[Unit] = []
    while ready:
        _, u = heapq.heappop(ready)
        order.append(units[u])
        for r in readers[u]:
            waiting[r] -= 1
            if waiting[r] == 0:
                heapq.heappush(ready, (units[r].nodes[0], r))
    return order
