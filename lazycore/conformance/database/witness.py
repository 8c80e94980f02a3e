"""What ran where between two looks: on a backend, decomposed before that, or in PyTorch."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

from lazycore_plugin_api import Buffer, HostArray

import lazycore
from lazycore.compiler.plan import EagerStep, Plan, SegmentStep
from lazycore.conformance.database.outcome import Phase
from lazycore.frontend.launch import WATCHERS

__all__ = ["Witness"]

_Run: TypeAlias = "Callable[[Sequence[Buffer | HostArray]], Sequence[Buffer]]"


class Witness:
    """Sees the launches of all plans that are compiled from now on. ``begin`` and ``settle`` enclose a pass."""

    def __init__(self) -> None:
        self._ran: Counter[str] = Counter()
        self._decomposed: Counter[str] = Counter()
        self._before: Counter[str] = Counter()
        WATCHERS.append(self._watch)

    def begin(self) -> None:
        """Forget what ran before."""
        self._ran.clear()
        self._decomposed.clear()
        self._before = Counter(lazycore.metrics()["fallbacks"])

    def settle(self, phase: Phase) -> None:
        """Add what ran since ``begin`` to a phase, as one sample."""
        fallbacks = Counter(lazycore.metrics()["fallbacks"]) - self._before
        phase.samples += 1
        phase.native += not fallbacks
        phase.ran.update(self._ran)
        phase.decomposed.update(self._decomposed)
        phase.fallbacks.update(fallbacks)

    def _watch(self, plan: Plan, _: Any) -> Plan:
        decomposed = Counter(plan.placement.decomposed)
        steps: list[SegmentStep | EagerStep] = []
        for step in plan.steps:
            if isinstance(step, SegmentStep):
                # What was decomposed belongs to the plan as a whole; its first launch tells it.
                step = replace(step, run=self._told(step, decomposed))
                decomposed = Counter()
            steps.append(step)
        return replace(plan, steps=tuple(steps))

    def _told(self, step: SegmentStep, decomposed: Counter[str]) -> _Run:
        ops = Counter(node.op for node in step.segment.nodes)

        def told(inputs: Sequence[Buffer | HostArray]) -> Sequence[Buffer]:
            self._ran.update(ops)
            self._decomposed.update(decomposed)
            return step.run(inputs)

        return told
