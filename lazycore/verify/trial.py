"""Running a part of a segment on its backend with the inputs that eager execution says it has."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from lazycore_plugin_api import DType, HostArray, Node, Segment, Value
from lazycore_plugin_api.difference import Difference, Tolerance, compare, tolerance_of
from lazycore_plugin_api.repro import execute

from lazycore.compiler.protocols import Backend, RunEager
from lazycore.compiler.ssa import distinct_inputs
from lazycore.verify.noise import allowance
from lazycore.verify.truth import Values, evaluate

__all__ = ["Bench", "Trial"]


@dataclass(frozen=True)
class Trial:
    """A segment, what it was given (one array per argument), what is right and allowed, and what differed."""

    segment: Segment
    inputs: Sequence[HostArray]
    expected: Sequence[HostArray]
    tolerances: Sequence[Tolerance]
    differences: Sequence[Difference]


class Bench:
    """One segment with one set of inputs, on one backend. Raises what ``run_eager`` raises."""

    def __init__(
        self,
        backend: Backend,
        segment: Segment,
        arguments: Sequence[HostArray],
        run_eager: RunEager,
        tolerances: Mapping[DType, Tolerance],
    ) -> None:
        self.segment = segment
        self._backend = backend
        self._run_eager = run_eager
        self._tolerances = tolerances
        constants = [segment.constants[p] for p in sorted(segment.constants)]
        self._known: Values = evaluate(segment, [*arguments, *constants], run_eager)

    def judge(self, segment: Segment, results: Sequence[HostArray]) -> Trial:
        """The results of a part of the segment against eager execution's."""
        expected = [self._known[v.id] for v in segment.outputs]
        specs = [v.spec.dtype for v in segment.outputs]
        tolerances = [self._tolerances.get(d, tolerance_of(d)) for d in specs]
        found = _compared(results, expected, tolerances)
        if found:
            inputs = [self._known[v.id] for v in segment.inputs]
            tolerances = allowance(segment, inputs, self._known, self._run_eager, self._tolerances)
            found = _compared(results, expected, tolerances)
        arguments = [self._known[v.id] for v in segment.arguments]
        return Trial(segment, arguments, expected, tolerances, found)

    def attempt(self, segment: Segment) -> Trial | None:
        """Compile and run a part of the segment; None where it computes what is right, or fails in another way."""
        try:
            results = execute(self._backend, segment, [self._known[v.id] for v in segment.arguments])
        except Exception:
            # Another fault than the one that is looked for: it was no error in the program.
            return None
        trial = self.judge(segment, results)
        return trial if trial.differences else None

    def part(self, positions: Collection[int]) -> Segment:
        """The nodes at some positions as a segment of their own: what they read from elsewhere becomes an input, and
        what is read elsewhere an output."""
        nodes = [self.segment.nodes[p] for p in sorted(positions)]
        written = {v.id for node in nodes for v in node.outputs}
        wanted = {v.id for v in self.segment.outputs} | self._read_outside(nodes)
        outputs = tuple(v for node in nodes for v in node.outputs if v.id in wanted)
        read = {v.id: v for node in nodes for v in distinct_inputs(node) if v.id not in written}
        return self._segment(list(read.values()), nodes, outputs)

    def _read_outside(self, nodes: Sequence[Node]) -> set[int]:
        inside = {id(node) for node in nodes}
        return {v.id for node in self.segment.nodes if id(node) not in inside for v in node.inputs()}

    def _segment(self, inputs: list[Value], nodes: list[Node], outputs: tuple[Value, ...]) -> Segment:
        whole = self.segment
        numbers = {whole.inputs[p].id for p in whole.scalars}
        frozen = {whole.inputs[p].id: array for p, array in whole.constants.items()}
        inputs.sort(key=lambda v: 2 * (v.id in frozen) + (v.id in numbers))
        scalars = frozenset(p for p, v in enumerate(inputs) if v.id in numbers)
        constants = {p: frozen[v.id] for p, v in enumerate(inputs) if v.id in frozen}
        return replace(
            whole, inputs=tuple(inputs), nodes=nodes, outputs=outputs,
            scalars=scalars, constants=constants, donatable=frozenset(),
        )  # fmt: skip


def _compared(
    results: Sequence[HostArray], expected: Sequence[HostArray], tolerances: Sequence[Tolerance]
) -> list[Difference]:
    triples = zip(results, expected, tolerances, strict=True)
    found = (compare(p, got, right, tolerance) for p, (got, right, tolerance) in enumerate(triples))
    return [difference for difference in found if difference is not None]
