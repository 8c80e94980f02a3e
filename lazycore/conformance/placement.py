"""Where the device ran what it was told: on the backend under test, or elsewhere although that claims it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

from lazycore_plugin_api import Buffer, Executable, HostArray, Node, Segment, Supported

import lazycore
from lazycore.compiler.plan import EagerStep, Plan, SegmentStep
from lazycore.conformance.case import Outcome
from lazycore.conformance.guard import watched
from lazycore.frontend import launch
from lazycore.frontend.eager import run_eager
from lazycore.frontend.launch import WATCHERS
from lazycore.plugins import use_backend
from lazycore.plugins.backend import LoadedBackend

__all__ = ["Placement", "label_of", "placement_of"]

Run: TypeAlias = "Callable[[Sequence[Buffer | HostArray]], Sequence[Buffer]]"
_placements: dict[str, Placement] = {}


def placement_of(selection: str, foreign: Callable[[], Sequence[type[Executable]]]) -> Placement:
    """The one of this process, which selects the backend when it is first asked for; it becomes the only one."""
    if selection not in _placements:
        _placements[selection] = Placement(selection, foreign)
    return _placements[selection]


def label_of(node: Node) -> str:
    """``op dtype``, by the first operand that has one, or the first result."""
    value = next(node.inputs(), None) or node.outputs[0]
    return f"{node.op} {value.spec.dtype.value}"


class Placement:
    """Watches all plans. ``begin`` and ``settle`` enclose a case."""

    def __init__(self, selection: str, foreign: Callable[[], Sequence[type[Executable]]]) -> None:
        (self.backend,) = use_backend(selection).backends
        # What it calls too small to be worth a launch is what most cases are.
        self.backend.accept_segment = lambda *_: True  # type: ignore[method-assign]
        self._foreign = foreign
        self._executed: set[str] = set()
        self._borrowed: set[str] = set()
        self._elsewhere: set[str] = set()
        self._claimed_eager: dict[int, Node] = {}
        WATCHERS.append(self._watch)
        launch.run_eager = self._run_eager  # type: ignore[attr-defined]

    def begin(self) -> None:
        """Forget what ran before."""
        lazycore.reset_metrics()
        self._executed, self._borrowed, self._elsewhere = set(), set(), set()

    def settle(self, outcome: Outcome, fallbacks: Mapping[str, int] | None = None) -> None:
        """Write down what ran since ``begin``; the outcome fails where a claimed op ran elsewhere. ``fallbacks``:
        counts of the case, where it has reset the counters itself."""
        counted = lazycore.metrics()["fallbacks"] if fallbacks is None else fallbacks
        outcome.executed |= self._executed
        outcome.claimed |= self._executed
        outcome.elsewhere |= self._elsewhere
        if outcome.elsewhere:
            outcome.fail(f"claimed, and ran in PyTorch on the CPU: {', '.join(sorted(outcome.elsewhere))}")
        if self._borrowed:
            outcome.fail(f"claimed, and ran elsewhere: {', '.join(sorted(self._borrowed))}")
        outcome.facts["fallbacks"] = dict(counted)

    def _watch(self, plan: Plan, backends: Sequence[LoadedBackend]) -> Plan:
        if self.backend not in backends:
            return plan
        steps: list[SegmentStep | EagerStep] = []
        for step in plan.steps:
            if isinstance(step, EagerStep):
                self._note(step.node)
                steps.append(step)
            else:
                steps.append(replace(step, run=self._told(step.segment, step.run)))
        return replace(plan, steps=tuple(steps))

    def _run_eager(self, node: Node, inputs: Sequence[HostArray]) -> Sequence[HostArray]:
        if id(node) in self._claimed_eager:
            self._elsewhere.add(label_of(node))
        return run_eager(node, inputs)

    def _note(self, node: Node) -> None:
        dtypes = {v.spec.dtype for v in (*node.inputs(), *node.outputs)}
        listed = dtypes <= set(self.backend.info.dtypes)
        if listed and isinstance(self.backend.supports(node), Supported):
            self._claimed_eager[id(node)] = node

    def _told(self, segment: Segment, run: Run) -> Run:
        labels = {label_of(node) for node in segment.nodes}

        def told(inputs: Sequence[Buffer | HostArray]) -> Sequence[Buffer]:
            with watched(self._foreign()) as borrowed:
                results = run(inputs)
            self._executed |= labels
            self._borrowed |= set(borrowed.names)
            return results

        return told
