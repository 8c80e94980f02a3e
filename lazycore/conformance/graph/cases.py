"""The graph cases: an op in a dtype, all its samples in one segment, or one by one where that fails."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from itertools import count

from lazycore_plugin_api import Argument, DType, HostArray, Node, Rejected, Segment, Value

from lazycore.conformance.case import Case, Failed, Outcome, Status
from lazycore.conformance.context import Context
from lazycore.conformance.graph.check import check_values, compiled, run_segment
from lazycore.conformance.graph.oracle import Eager
from lazycore.conformance.graph.sample import Sample, sample_of
from lazycore.conformance.graph.table import rows_by_op

__all__ = ["cases", "joined", "run", "samples_of"]


def cases() -> list[Case]:
    """``graph/op/dtype`` for ordinary inputs, at the levels of inference and training; ``odd/op/dtype`` for others."""
    found: dict[Case, None] = {}
    for op, rows in rows_by_op().items():
        for row in rows:
            level = 3 if row.odd else 2 if "backward" in op else 1
            for dtype in row.dtypes:
                found[Case(level, f"{'odd' if row.odd else 'graph'}/{op}/{dtype.value}")] = None
    return list(found)


@cache
def samples_of(op: str, dtype: DType, odd: bool) -> tuple[Sample, ...]:
    """All samples of an op in a dtype."""
    rows = (row for row in rows_by_op()[op] if row.odd is odd and dtype in row.dtypes)
    return tuple(s for s in (sample_of(row, dtype, Eager().specs) for row in rows) if s is not None)


def run(case: Case, context: Context) -> Outcome:
    """Compare all samples that the backend takes. Nothing is raised but what is no fault of the backend."""
    _, op, name = case.id.split("/")
    outcome = Outcome()
    taken: list[tuple[Sample, list[HostArray]]] = []
    # Expected values first: the backend has seen nothing yet that it could tamper with.
    judged = [
        (s, context.oracle.expected(s.segment, s.arrays)) for s in samples_of(op, DType(name), case.group == "odd")
    ]
    for sample, expected in judged:
        if expected is not None and _is_claimed(sample, outcome, context):
            taken.append((sample, expected))
    if taken:
        _check(taken, outcome, context)
    elif outcome.status is Status.passed:
        outcome.status = Status.unclaimed if outcome.declined else Status.skipped
        outcome.message = outcome.message or "no sample exists in this dtype"
    return outcome


def _is_claimed(sample: Sample, outcome: Outcome, context: Context) -> bool:
    decision = context.decision(sample.node)
    if isinstance(decision, Rejected):
        outcome.declined += 1
        outcome.message = decision.reason
        return False
    outcome.claimed.add(_label(sample))
    return True


def _label(sample: Sample) -> str:
    return f"{sample.node.op} {sample.segment.name.rpartition(' ')[2]}"


def _check(taken: Sequence[tuple[Sample, list[HostArray]]], outcome: Outcome, context: Context) -> None:
    outcome.message = ""
    try:
        _check_together(taken, outcome, context)
    except Failed as error:
        for pair in taken if len(taken) > 1 else ():
            try:
                _check_together([pair], outcome, context)
            except Failed as one:
                outcome.fail(str(one))
        if outcome.status is Status.passed:
            outcome.fail(str(error))


def _check_together(taken: Sequence[tuple[Sample, list[HostArray]]], outcome: Outcome, context: Context) -> None:
    segment, arrays, vague = joined([sample for sample, _ in taken])
    executable = compiled(context.backend, segment)
    outputs = run_segment(context.backend, executable, segment, arrays, context.foreign)
    right = [array for _, expected in taken for array in expected]
    outcome.executed |= {_label(sample) for sample, _ in taken}
    outcome.tolerances |= check_values(segment, outputs, right, context.profile.tolerances, vague)
    outcome.samples = len(taken)


def joined(samples: Sequence[Sample]) -> tuple[Segment, list[HostArray], list[int]]:
    """The samples side by side in one segment, its arrays, and the positions of its vague outputs."""
    numbers = count()
    inputs: list[Value] = []
    nodes: list[Node] = []
    outputs: list[Value] = []
    vague: list[int] = []
    for sample in samples:
        known = {v.id: Value(next(numbers), v.spec) for v in (*sample.segment.inputs, *sample.segment.outputs)}
        node = sample.node
        vague += [len(outputs) + p for p in sample.vague]
        inputs += [known[v.id] for v in sample.segment.inputs]
        outputs += [known[v.id] for v in sample.segment.outputs]
        args = tuple(_renamed(a, known) for a in node.args)
        kwargs = {k: _renamed(a, known) for k, a in node.kwargs.items()}
        nodes.append(Node(node.op, args, kwargs, tuple(known[v.id] for v in node.outputs)))
    segment = Segment(tuple(inputs), nodes, tuple(outputs), name=samples[0].segment.name)
    return segment, [a for sample in samples for a in sample.arrays], vague


def _renamed(argument: Argument, known: Mapping[int, Value]) -> Argument:
    if isinstance(argument, Value):
        return known[argument.id]
    return tuple(_renamed(a, known) for a in argument) if isinstance(argument, tuple) else argument
