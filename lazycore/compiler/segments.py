"""From units to segments: what crosses their borders, and which inputs an executable may overwrite."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from lazycore_plugin_api import Constants, Graph, HostArray, Node, Segment, Value, verify

from lazycore.compiler.donation import donate
from lazycore.compiler.protocols import Backend
from lazycore.compiler.ssa import distinct_inputs
from lazycore.compiler.unit import Unit

__all__ = ["Part", "cut"]

Part = Segment | Node
"""One step before it is compiled: a backend's segment, or a node that runs eagerly."""


def cut(
    graph: Graph,
    units: Sequence[Unit],
    backends: Sequence[Backend],
    scalars: frozenset[int],
    donatable: frozenset[int],
    constants: Mapping[int, HostArray] | None = None,
    replaced: Mapping[int, int] = MappingProxyType({}),
) -> list[Part]:
    """Each unit as a step, in order; every segment verified.

    A segment's scalar inputs come behind the others, and its constants last: those of the graph's inputs in
    ``constants`` (position -> content) that it reads, if its backend wants them bound. An input is donatable where
    this segment is its last reader, the backend can use it, an output of the same spec can take its place, and it
    is either an intermediate or a graph input in ``donatable`` - and in no case an output of the graph. Outputs are
    ordered for donation (``compiler.donation``); ``replaced``: position of a graph input -> that of the output which
    its storage holds afterwards.
    """
    numbers = frozenset(graph.inputs[p].id for p in scalars)
    frozen = {graph.inputs[p].id: array for p, array in (constants or {}).items()}
    inputs = {value.id for p, value in enumerate(graph.inputs) if p not in donatable}
    successors = {graph.inputs[i].id: graph.outputs[o].id for i, o in replaced.items()}
    uses = _Uses(graph, units)
    parts: list[Part] = []
    for position, unit in enumerate(units):
        nodes = [graph.nodes[i] for i in unit.nodes]
        if unit.backend is None:
            parts.append(nodes[0])
            continue
        info = backends[unit.backend].info
        bound = {} if info.constants is Constants.passed else frozen
        segment = _segment(position, nodes, uses, numbers, bound)
        if info.capabilities.donation:
            donate(segment, uses.ending_in(position, segment) - inputs, successors)
        verify(segment)
        parts.append(segment)
    return parts


class _Uses:
    """Which units read a value, in order, and which values the graph hands out."""

    def __init__(self, graph: Graph, units: Sequence[Unit]) -> None:
        self.outputs = {value.id for value in graph.outputs}
        self.readers: defaultdict[int, list[int]] = defaultdict(list)
        for position, unit in enumerate(units):
            for i in {value.id for n in unit.nodes for value in graph.nodes[n].inputs()}:
                self.readers[i].append(position)

    def outside(self, position: int, value: Value) -> bool:
        """Whether anyone but this unit wants the value."""
        return value.id in self.outputs or any(reader != position for reader in self.readers[value.id])

    def ending_in(self, position: int, segment: Segment) -> set[int]:
        """The segment's input values that nobody wants after it."""
        read = {value.id for value in segment.inputs} - self.outputs
        return {i for i in read if self.readers[i][-1] == position}


def _segment(
    position: int, nodes: list[Node], uses: _Uses, numbers: frozenset[int], frozen: Mapping[int, HostArray]
) -> Segment:
    written = {out.id: out for node in nodes for out in node.outputs}
    read: dict[int, Value] = {v.id: v for node in nodes for v in distinct_inputs(node) if v.id not in written}
    inputs = sorted(read.values(), key=lambda value: 2 * (value.id in frozen) + (value.id in numbers))
    outputs = tuple(value for value in written.values() if uses.outside(position, value))
    scalars = frozenset(p for p, value in enumerate(inputs) if value.id in numbers)
    constants = {p: frozen[value.id] for p, value in enumerate(inputs) if value.id in frozen}
    name = f"segment{position}"
    return Segment(tuple(inputs), nodes, outputs, name=name, scalars=scalars, constants=constants)
