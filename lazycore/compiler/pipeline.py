"""The back half in one call: graph -> rewrites -> legalization -> partition -> compile -> plan."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Sequence

from lazycore_plugin_api import CompileFailure, Executable, Graph, LazycoreError, Node, Rejected, Segment, Value, verify

from lazycore.compiler.annotate import Annotator
from lazycore.compiler.estimate import estimate
from lazycore.compiler.failures import failed_compile, unsupported, warn_failed
from lazycore.compiler.legalize import legalize
from lazycore.compiler.partition import Unit, partition
from lazycore.compiler.placement import EagerOp, Placement, Share
from lazycore.compiler.plan import Plan, Work, make_plan
from lazycore.compiler.protocols import Backend, Decompose, Observer, Quiet
from lazycore.compiler.rewrites import rewrite
from lazycore.compiler.segments import Part, cut

__all__ = ["compile_graph"]


def compile_graph(
    graph: Graph,
    *,
    scalars: frozenset[int],
    donatable: frozenset[int],
    backends: Sequence[Backend],
    decompose: Decompose,
    strict: bool = False,
    observer: Observer | None = None,
) -> Plan:
    """Compile a graph for the selected backends, tried in order.

    ``scalars``: positions of inputs that arrive as 0-d host arrays. ``donatable``: positions of inputs whose buffer
    nobody reads after the graph. What no backend takes, whole or decomposed, becomes an eager step. A segment that its
    backend cannot compile goes to the next backend, then to eager, with a ``BackendWarning``.
    Raises BackendError instead of both where ``strict``; InvalidGraph for a graph that breaks a rule of the IR.
    """
    verify(graph)
    annotator = Annotator(backends)
    graph = legalize(rewrite(graph), annotator, decompose)
    graph = rewrite(graph)
    build = _Build(graph, annotator, scalars, donatable, strict, observer or Quiet())
    while not build.attempt():
        pass
    return build.plan()


class _Build:
    """One graph on its way to a plan; each attempt partitions anew, without the backends that failed."""

    def __init__(
        self,
        graph: Graph,
        annotator: Annotator,
        scalars: frozenset[int],
        donatable: frozenset[int],
        strict: bool,
        observer: Observer,
    ) -> None:
        self.graph = graph
        self.annotator = annotator
        self.scalars = scalars
        self.donatable = donatable
        self.strict = strict
        self.observer = observer
        self.units: list[Unit] = []
        self.parts: list[Part] = []
        self.crossing: frozenset[int] = frozenset()
        self.executables: dict[object, Executable] = {}

    def attempt(self) -> bool:
        """Partition and compile; whether every segment has its executable. Each False bars a backend from a node, so
        the attempts come to an end."""
        placements = [self.annotator(node).backend for node in self.graph.nodes]
        if self.strict and None in placements:
            raise unsupported([(n, self.annotator.reasons(n)) for n in self._eager_nodes(placements)])
        self.units = partition(self.graph, placements)
        self.parts = cut(self.graph, self.units, self.annotator.backends, self.scalars, self.donatable)
        self.crossing = frozenset(v.id for part in self.parts for v in _read(part)) - {v.id for v in self.graph.inputs}
        done = [self._compile(position) for position in range(len(self.annotator.backends))]
        return all(done)

    def plan(self) -> Plan:
        """The plan of the last attempt."""
        placement = self._placement()
        for node in (part for part in self.parts if isinstance(part, Node)):
            self.observer.fell_back(node, self.annotator.reasons(node))
        self.observer.placed(placement)
        work = [self._work(unit, part) for unit, part in zip(self.units, self.parts, strict=True)]
        return make_plan(self.graph, work, self.scalars, placement)

    def _compile(self, position: int) -> bool:
        """Compile the backend's new segments; whether it kept them all."""
        pending = [s for s in self._segments(position) if _key(position, s) not in self.executables]
        accepted = [s for s in pending if self._accepts(position, s)]
        if accepted:
            start = time.perf_counter()
            results = self.annotator.backends[position].compile(accepted)
            seconds = (time.perf_counter() - start) / len(accepted)
            for segment, result in zip(accepted, results, strict=True):
                self._keep(position, segment, result, seconds)
        return all(_key(position, segment) in self.executables for segment in pending)

    def _accepts(self, position: int, segment: Segment) -> bool:
        try:
            if self.annotator.backends[position].accept_segment(segment, estimate(segment, self.crossing)):
                return True
        except LazycoreError as error:
            self._fail(position, segment, CompileFailure(str(error), error))
            return False
        self.annotator.exclude(position, segment.nodes, Rejected("declined", "it declined the segment as a whole"))
        return False

    def _keep(self, position: int, segment: Segment, result: Executable | CompileFailure, seconds: float) -> None:
        if isinstance(result, CompileFailure):
            self._fail(position, segment, result)
        else:
            self.executables[_key(position, segment)] = result
            self.observer.compiled(segment, self.annotator.backends[position].name, seconds)

    def _fail(self, position: int, segment: Segment, failure: CompileFailure) -> None:
        name = self.annotator.backends[position].name
        if self.strict:
            raise failed_compile(name, segment, failure)
        self.annotator.exclude(position, segment.nodes, Rejected("compile", failure.reason))
        heirs = (self.annotator(node).backend for node in segment.nodes)
        names = ["eager PyTorch" if h is None else self.annotator.backends[h].name for h in heirs]
        warn_failed(name, segment, failure, list(dict.fromkeys(names)))

    def _segments(self, position: int) -> list[Segment]:
        pairs = zip(self.units, self.parts, strict=True)
        return [part for unit, part in pairs if unit.backend == position and isinstance(part, Segment)]

    def _eager_nodes(self, placements: Sequence[int | None]) -> list[Node]:
        return [node for node, place in zip(self.graph.nodes, placements, strict=True) if place is None]

    def _work(self, unit: Unit, part: Part) -> Work:
        if isinstance(part, Node) or unit.backend is None:
            assert isinstance(part, Node)
            return part
        return part, self.annotator.backends[unit.backend], self.executables[_key(unit.backend, part)]

    def _placement(self) -> Placement:
        ops: Counter[int] = Counter()
        segments: Counter[int] = Counter()
        for unit in self.units:
            if unit.backend is not None:
                ops[unit.backend] += len(unit.nodes)
                segments[unit.backend] += 1
        shares = tuple(Share(self.annotator.backends[b].name, ops[b], segments[b]) for b in sorted(ops))
        nodes = (part for part in self.parts if isinstance(part, Node))
        return Placement(shares, tuple(EagerOp(n.op, n.source, self.annotator.reasons(n)) for n in nodes))


def _read(part: Part) -> Iterable[Value]:
    return part.inputs() if isinstance(part, Node) else part.inputs


def _key(position: int, segment: Segment) -> object:
    """What makes an executable of an earlier attempt fit: backend, nodes, borders and donations."""
    inputs = tuple(value.id for value in segment.inputs)
    outputs = tuple(value.id for value in segment.outputs)
    return position, tuple(segment.nodes), inputs, outputs, segment.donatable
