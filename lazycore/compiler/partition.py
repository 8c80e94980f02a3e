"""Cut an annotated graph into units: convex groups of one backend's nodes, and single nodes that run eagerly.

First by levels, which is linear: level(node) = max over producers of (same placement -> their level, different ->
one more), one unit per placement and level. Two units of one level then never depend on each other. Then units of
one backend are merged wherever no path leaves the first and comes back into the second.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from lazycore_plugin_api import Graph

__all__ = ["Unit", "partition"]


@dataclass(frozen=True)
class Unit:
    """Positions of nodes in their graph, ascending. ``backend`` None: exactly one node, which runs eagerly."""

    backend: int | None
    nodes: tuple[int, ...]


def partition(graph: Graph, placements: Sequence[int | None]) -> list[Unit]:
    """The graph's units in an order in which they can run; ``placements``: node -> backend position, None for eager.

    Every node is in exactly one unit.
    """
    producers = _producers(graph)
    units = _by_level(producers, placements)
    return _in_order(_merge(units, _edges(units, producers)), producers)


def _producers(graph: Graph) -> list[set[int]]:
    writer = {out.id: i for i, node in enumerate(graph.nodes) for out in node.outputs}
    return [{writer[v.id] for v in node.inputs() if v.id in writer} for node in graph.nodes]


def _by_level(producers: list[set[int]], placements: Sequence[int | None]) -> list[Unit]:
    levels: list[int] = []
    groups: dict[tuple[int, int], list[int]] = {}
    for i, sources in enumerate(producers):
        level = max((levels[j] + (placements[j] != placements[i]) for j in sources), default=0)
        levels.append(level)
        placement = placements[i]
        # Eager nodes never share a unit: each gets a key of its own, below those of backends.
        groups.setdefault((level, -1 - i if placement is None else placement), []).append(i)
    keys = sorted(groups, key=lambda key: (key[0], groups[key][0]))
    return [Unit(placements[groups[key][0]], tuple(groups[key])) for key in keys]


def _edges(units: list[Unit], producers: list[set[int]]) -> list[set[int]]:
    """Unit -> the units that it reads from."""
    unit_of = {i: u for u, unit in enumerate(units) for i in unit.nodes}
    return [{unit_of[j] for i in unit.nodes for j in producers[i]} - {u} for u, unit in enumerate(units)]


def _merge(units: list[Unit], edges: list[set[int]]) -> list[Unit]:
    reach = _Reachability(edges)
    members: dict[int, list[int]] = {u: list(unit.nodes) for u, unit in enumerate(units)}
    for later, unit in enumerate(units):
        if unit.backend is None:
            continue
        for earlier in [u for u in members if u < later and units[u].backend == unit.backend]:
            if reach.mergeable(earlier, later):
                reach.merge(earlier, later)
                members[later] += members.pop(earlier)
    return [Unit(units[u].backend, tuple(sorted(nodes))) for u, nodes in members.items()]


class _Reachability:
    """Ancestors and descendants of every unit as bit sets, kept right while units merge."""

    def __init__(self, edges: list[set[int]]) -> None:
        self.above = [0] * len(edges)
        self.below = [0] * len(edges)
        for u, sources in enumerate(edges):
            for s in sources:
                self.above[u] |= self.above[s] | 1 << s
            for a in _bits(self.above[u]):
                self.below[a] |= 1 << u

    def mergeable(self, a: int, b: int) -> bool:
        """Whether no path between the two passes through a third unit."""
        return not (self.below[a] & self.above[b] or self.below[b] & self.above[a])

    def merge(self, gone: int, kept: int) -> None:
        """Make ``kept`` stand for both units."""
        both = 1 << gone | 1 << kept
        self.above[kept] = (self.above[kept] | self.above[gone]) & ~both
        self.below[kept] = (self.below[kept] | self.below[gone]) & ~both
        for u in _bits(self.below[kept]):
            self.above[u] = (self.above[u] | self.above[kept] | 1 << kept) & ~(1 << gone)
        for u in _bits(self.above[kept]):
            self.below[u] = (self.below[u] | self.below[kept] | 1 << kept) & ~(1 << gone)


def _bits(mask: int) -> Iterator[int]:
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


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
