"""Compile a graph in attempts: each places, partitions and compiles, without what failed in the one before."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from lazycore_plugin_api import (
    CompileFailure,
    Executable,
    Graph,
    HostArray,
    LazycoreError,
    Node,
    Rejected,
    Segment,
    Value,
)

from lazycore.compiler.accounts import placement_of
from lazycore.compiler.ahead import run_ahead
from lazycore.compiler.annotate import Annotator
from lazycore.compiler.estimate import estimate
from lazycore.compiler.failures import failed_compile, unsupported, warn_apart, warn_failed
from lazycore.compiler.legalize import legalize
from lazycore.compiler.partition import partition
from lazycore.compiler.patterns import dissolve
from lazycore.compiler.placement import LostMatch
from lazycore.compiler.plan import Plan, Work, make_plan
from lazycore.compiler.protocols import Decompose, Observer
from lazycore.compiler.rewrites import rewrite
from lazycore.compiler.segments import Part, cut
from lazycore.compiler.sizing.family import Families
from lazycore.compiler.sizing.serving import Serving
from lazycore.compiler.unit import Unit
from lazycore.compiler.veto import veto

__all__ = ["Attempts", "Task"]


@dataclass(frozen=True)
class Task:
    """What a compile is given besides its graph and backends; see ``compile_graph``."""

    scalars: frozenset[int]
    donatable: frozenset[int]
    replaced: Mapping[int, int]
    constants: Mapping[int, HostArray]
    decompose: Decompose
    strict: bool
    insist: bool
    families: Families | None = None
    ahead: bool = False


class Attempts:
    """One graph on its way to a plan. ``graph`` may hold composites; ``lost`` are the matches that made none."""

    def __init__(
        self, graph: Graph, annotator: Annotator, task: Task, observer: Observer, lost: list[LostMatch]
    ) -> None:
        self.annotator = annotator
        self.task = task
        self.observer = observer
        self.lost = lost
        self.units: list[Unit] = []
        self.parts: list[Part] = []
        self.crossing: frozenset[int] = frozenset()
        self.executables: dict[object, Executable] = {}
        self.notes: dict[str, str] = {}
        self.serving = Serving(task.families, annotator, observer) if task.families is not None else None
        self.decomposed: list[str] = []
        self.graph = rewrite(self._legal(dissolve(graph, self._unclaimed)))

    def attempt(self) -> bool:
        """Partition and compile; whether every segment has its executable. Each False bars a backend from a node or
        takes a composite apart, so the attempts come to an end."""
        self.graph = dissolve(self.graph, self._unclaimed, self._legal)
        self.units = self._units()
        task = self.task
        self.parts = cut(
            self.graph, self.units, self.annotator.backends, task.scalars, task.donatable, task.constants, task.replaced
        )
        self.crossing = frozenset(v.id for part in self.parts for v in _read(part)) - {v.id for v in self.graph.inputs}
        done = [self._compile(position) for position in range(len(self.annotator.backends))]
        return all(done)

    def plan(self) -> Plan:
        """The plan of the last attempt."""
        placement = placement_of(
            self.graph, self.units, self.parts, self.annotator, self.crossing, self.lost, self.notes
        )
        placement = replace(placement, decomposed=Counter(self.decomposed))
        for node in (part for part in self.parts if isinstance(part, Node)):
            self.observer.fell_back(node, self.annotator.reasons(node))
        self.observer.placed(placement)
        work = [self._work(unit, part) for unit, part in zip(self.units, self.parts, strict=True)]
        return make_plan(self.graph, work, self.task.scalars, placement)

    def _units(self) -> list[Unit]:
        while True:
            placements = [self.annotator(node).backend for node in self.graph.nodes]
            if self.task.strict and None in placements:
                raise unsupported([(n, self.annotator.reasons(n)) for n in self._eager_nodes(placements)])
            units = partition(self.graph, placements)
            if not veto(self.graph, units, self.annotator):
                return run_ahead(self.graph, units, self.annotator.backends) if self.task.ahead else units

    def _legal(self, graph: Graph) -> Graph:
        legal = legalize(graph, self.annotator, self.task.decompose)
        kept = {value.id for node in legal.nodes for value in node.outputs}
        self.decomposed += [node.op for node in graph.nodes if kept.isdisjoint(v.id for v in node.outputs)]
        return legal

    def _unclaimed(self, node: Node) -> bool:
        """Whether a composite is to be taken apart, as its backend does not take it; noted as a lost match."""
        if node.body is None or self.annotator(node).backend is not None:
            return False
        backend, pattern, _ = node.op.split(".")
        (refusal, *_) = self.annotator.refusals(node)
        code = refusal.code if refusal.code == "compile" else "unclaimed"
        ops = tuple(inner.op for inner in node.body.nodes)
        self.lost.append(LostMatch(backend, pattern, ops, code, refusal.reason, node.source))
        return True

    def _compile(self, position: int) -> bool:
        """Compile the backend's new segments; whether it kept them all."""
        pending = [s for s in self._segments(position) if _key(position, s) not in self.executables]
        accepted = [s for s in pending if self._accepts(position, s) and not self._serves(position, s)]
        missing = self._restore(position, accepted) if accepted else []
        if missing:
            start = time.perf_counter()
            results = self.annotator.backends[position].compile(missing)
            seconds = (time.perf_counter() - start) / len(missing)
            for segment, result in zip(missing, results, strict=True):
                self._keep(position, segment, result, seconds)
        return all(_key(position, segment) in self.executables for segment in pending)

    def _serves(self, position: int, segment: Segment) -> bool:
        """Whether an executable for all sizes serves the segment."""
        if self.serving is None:
            return False
        served = self.serving.serve(position, segment)
        self.notes[segment.name] = served.note
        if served.executable is not None:
            self.executables[_key(position, segment)] = served.executable
        return served.executable is not None

    def _restore(self, position: int, segments: list[Segment]) -> list[Segment]:
        """Take what earlier processes compiled; the segments that are left."""
        start = time.perf_counter()
        backend = self.annotator.backends[position]
        found = backend.restore(segments)
        seconds = time.perf_counter() - start
        pairs = list(zip(segments, found, strict=True))
        for segment, executable in pairs:
            if executable is not None:
                self.executables[_key(position, segment)] = executable
                self.observer.loaded(segment, backend.name, seconds / len(segments))
        return [segment for segment, executable in pairs if executable is None]

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
        if self.task.insist:
            raise failed_compile(name, segment, failure)
        reason = Rejected("compile", failure.reason)
        composites = [node for node in segment.nodes if node.body is not None]
        if composites:
            # It may be a composite that does not compile, so the backend keeps the ops until it fails without them.
            self.annotator.exclude(position, composites, reason)
            warn_apart(name, segment, failure)
            return
        self.annotator.exclude(position, segment.nodes, reason)
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


def _read(part: Part) -> Iterable[Value]:
    return part.inputs() if isinstance(part, Node) else part.inputs


def _key(position: int, segment: Segment) -> object:
    """What makes an executable of an earlier attempt fit: backend, nodes, borders, donations and constants."""
    inputs = tuple(value.id for value in segment.inputs)
    outputs = tuple(value.id for value in segment.outputs)
    return position, tuple(segment.nodes), inputs, outputs, segment.donatable, frozenset(segment.constants)
