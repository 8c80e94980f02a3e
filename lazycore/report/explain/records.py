"""What is kept of a plan: its steps, what crosses between them, and how often and how long they ran."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from lazycore_plugin_api import Node, Source

from lazycore.compiler.placement import Placement
from lazycore.compiler.plan import EagerStep, Plan, SegmentStep

__all__ = ["EAGER", "Crossing", "PlanRecord", "StepRecord", "record_plan"]

EAGER = "eager"
"""The name of PyTorch on the CPU, where a step has no backend."""


@dataclass
class StepRecord:
    """One step. ``lines``: the user's line -> ops by name; ``seconds`` is None until the step was timed; ``sizes`` says
    that it runs by an executable for all sizes, or why it does not."""

    name: str
    backend: str
    ops: dict[str, int]
    lines: dict[str, dict[str, int]]
    runs: int = 0
    seconds: float | None = None
    sizes: str = ""

    def ran(self, seconds: float) -> None:
        """Count one timed run."""
        self.runs += 1
        self.seconds = (self.seconds or 0.0) + seconds


@dataclass(frozen=True)
class Crossing:
    """Values that one step makes and another reads; -1 stands for the program itself, before or after the plan."""

    source: int
    target: int
    values: int
    nbytes: int


@dataclass
class PlanRecord:
    """One compiled trace. ``cause``: the barrier that ended it; ``summary``: its placement in a line."""

    number: int
    cause: str
    summary: str
    steps: list[StepRecord]
    crossings: list[Crossing]
    refused: list[dict[str, object]] = field(default_factory=list)
    lost: list[dict[str, object]] = field(default_factory=list)


def record_plan(number: int, cause: str, plan: Plan) -> PlanRecord:
    """What is known of a plan before it runs."""
    placement = plan.placement
    sizes = iter(segment.sizes for segment in placement.segments)
    return PlanRecord(
        number=number,
        cause=cause,
        summary=str(placement),
        steps=[_step(step, next(sizes) if isinstance(step, SegmentStep) else "") for step in plan.steps],
        crossings=_crossings(plan),
        refused=_refused(placement),
        lost=[
            {"backend": m.backend, "pattern": m.pattern, "code": m.code, "reason": m.reason, "line": _line(m.source)}
            for m in placement.lost
        ],
    )


def _step(step: SegmentStep | EagerStep, sizes: str) -> StepRecord:
    if isinstance(step, EagerStep):
        return StepRecord(step.node.op, EAGER, {step.node.op: 1}, _lines([step.node]))
    nodes = step.segment.nodes
    return StepRecord(step.segment.name, step.backend, dict(Counter(n.op for n in nodes)), _lines(nodes), sizes=sizes)


def _lines(nodes: Iterable[Node]) -> dict[str, dict[str, int]]:
    lines: dict[str, Counter[str]] = {}
    for node in nodes:
        lines.setdefault(_line(node.source), Counter())[node.op] += 1
    return {line: dict(ops) for line, ops in lines.items()}


def _line(source: Source | None) -> str:
    """The forward line, which is where a person looks for a gradient's cause too."""
    if source is None:
        return "?"
    return str(source.forward) if source.forward else str(source)


def _crossings(plan: Plan) -> list[Crossing]:
    """Between steps, and between the plan and the program. A slot's size is known where a step writes it."""
    writer: dict[int, tuple[int, int]] = {}
    slot = plan.inputs
    for position, step in enumerate(plan.steps):
        for spec in step.specs:
            writer[slot] = (position, spec.nbytes)
            slot += 1
    counts: dict[tuple[int, int], list[int]] = {}
    for position, step in enumerate(plan.steps):
        reads = step.inputs if isinstance(step, EagerStep) else step.tensors
        for read in dict.fromkeys(reads):
            source, nbytes = writer.get(read, (-1, 0))
            _count(counts, source, position, nbytes)
    for output in dict.fromkeys(plan.outputs):
        source, nbytes = writer.get(output, (-1, 0))
        if source >= 0:
            _count(counts, source, -1, nbytes)
    return [Crossing(source, target, n, size) for (source, target), (n, size) in counts.items()]


def _count(counts: dict[tuple[int, int], list[int]], source: int, target: int, nbytes: int) -> None:
    entry = counts.setdefault((source, target), [0, 0])
    entry[0] += 1
    entry[1] += nbytes


def _refused(placement: Placement) -> list[dict[str, object]]:
    return [
        {
            "op": entry.op,
            "line": _line(entry.source),
            "taken_by": entry.taken_by or EAGER,
            "refusals": [{"backend": r.backend, "code": r.code, "reason": r.reason} for r in entry.refusals],
        }
        for entry in placement.refused
    ]
