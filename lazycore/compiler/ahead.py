"""What a program is about to look at runs ahead of the rest.

Of a trace's values it is the 0-d ones that a program prints or compares: a loss, a count of hits. Where a backend
runs asynchronously they are segments of their own, with what they are made of; so a training loop that prints its
loss gets it once the forward pass has run, and records the next step while backward pass and optimizer still run.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from lazycore_plugin_api import Graph, Node

from lazycore.compiler.estimate import flops
from lazycore.compiler.protocols import Backend
from lazycore.compiler.sizes import nbytes
from lazycore.compiler.ssa import distinct_inputs
from lazycore.compiler.unit import Unit
from lazycore.compiler.veto import CROSSING, PER_BYTE

__all__ = ["SHARE", "WORTH", "run_ahead"]

WORTH = 100
"""What goes ahead has so many times the operations that a launch costs, and the rest so many times those that handing
it what it reads costs. A perceptron's backward pass and optimizer have 130 times; of a transformer 128 wide and of
ResNet-20 it is 40 to 50 times, and both got slower by it."""
SHARE = 4
"""The rest is at least one part in so many of the whole, or there is too little to overlap with."""


def run_ahead(graph: Graph, units: Sequence[Unit], backends: Sequence[Backend]) -> list[Unit]:
    """The units, in an order in which they can run, those of asynchronous backends cut where numbers are ready."""
    if not any(_overlaps(unit, backends) for unit in units):
        return list(units)
    early = _early(graph)
    return [part for unit in units for part in (_cut(unit, early) if _overlaps(unit, backends) else [unit])]


def _overlaps(unit: Unit, backends: Sequence[Backend]) -> bool:
    return unit.backend is not None and backends[unit.backend].info.capabilities.asynchronous


def _cut(unit: Unit, early: set[int]) -> list[Unit]:
    # What is early reads only what is early, so neither part waits for itself, nor through a third unit.
    parts = [i for i in unit.nodes if i in early], [i for i in unit.nodes if i not in early]
    return [Unit(unit.backend, tuple(nodes)) for nodes in parts if nodes]


def _early(graph: Graph) -> set[int]:
    """The nodes that numbers are made of: those of the first number, and of each further one while both parts are
    worth a launch of their own."""
    writer = {value.id: i for i, node in enumerate(graph.nodes) for value in node.outputs}
    border = _Border(graph)
    early: set[int] = set()
    for number in sorted({writer[v.id] for v in graph.outputs if v.id in writer and not v.spec.shape}):
        more = _sources(graph, writer, number, early)
        for i in more:
            border.move(graph.nodes[i])
        if not border.is_worth_it():
            break
        early |= more
    return early if sum(flops(graph.nodes[i]) for i in early) >= WORTH * CROSSING else set()


def _sources(graph: Graph, writer: Mapping[int, int], node: int, known: set[int]) -> set[int]:
    found: set[int] = set()
    stack = [node]
    while stack:
        i = stack.pop()
        if i not in found and i not in known:
            found.add(i)
            stack += [writer[value.id] for value in graph.nodes[i].inputs() if value.id in writer]
    return found


class _Border:
    """What goes ahead would hand to the rest, and what the rest costs, while nodes move ahead one by one: a program may
    have hundreds of numbers, such as an optimizer's counts of steps."""

    def __init__(self, graph: Graph) -> None:
        self._readers = Counter(value.id for node in graph.nodes for value in distinct_inputs(node))
        self._handed: dict[int, int] = {}
        self._whole = self._left = sum(map(flops, graph.nodes))
        # The launch itself is one crossing.
        self._cost = CROSSING

    def move(self, node: Node) -> None:
        """The node goes ahead."""
        self._left -= flops(node)
        for value in distinct_inputs(node):
            self._readers[value.id] -= 1
            if not self._readers[value.id]:
                self._cost -= self._handed.pop(value.id, 0)
        for value in node.outputs:
            if self._readers[value.id]:
                self._handed[value.id] = CROSSING + nbytes([value]) * PER_BYTE
                self._cost += self._handed[value.id]

    def is_worth_it(self) -> bool:
        """Whether the rest is worth a launch of its own."""
        return self._left >= WORTH * self._cost and self._left * SHARE >= self._whole
