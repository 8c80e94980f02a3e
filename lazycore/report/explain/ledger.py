"""The plans of this process, and what their steps cost where somebody asked for that."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeAlias

from lazycore_plugin_api import Buffer, HostArray, Node

from lazycore.compiler.plan import Plan, SegmentStep
from lazycore.config import config
from lazycore.report.explain.records import PlanRecord, StepRecord, record_plan

__all__ = ["LEDGER", "Ledger"]

KEPT = 256

Run: TypeAlias = "Callable[[Sequence[Buffer | HostArray]], Sequence[Buffer]]"
RunEager: TypeAlias = Callable[[Node, Sequence[HostArray]], Sequence[HostArray]]


class Ledger:
    """Keeps the last plans. Where ``config.explain`` is set, a plan's steps are timed: each waits for its results, so
    that a program runs slower than without."""

    def __init__(self) -> None:
        self.plans: deque[PlanRecord] = deque(maxlen=KEPT)
        self._count = 0
        self._eager: dict[int, StepRecord] = {}

    def reset(self) -> None:
        """Forget all plans."""
        self.plans.clear()
        self._eager.clear()

    def watch(self, plan: Plan, cause: str) -> Plan:
        """Note a new plan; the result runs in its place."""
        self._count += 1
        record = record_plan(self._count, cause, plan)
        self.plans.append(record)
        if not config.explain:
            return plan
        pairs = list(zip(plan.steps, record.steps, strict=True))
        self._eager |= {id(step.node): own for step, own in pairs if not isinstance(step, SegmentStep)}
        steps = (replace(s, run=_timed(s.run, r)) if isinstance(s, SegmentStep) else s for s, r in pairs)
        return replace(plan, steps=tuple(steps))

    def timed_eager(self, run: RunEager) -> RunEager:
        """The eager runner, timed."""

        def timed(node: Node, inputs: Sequence[HostArray]) -> Sequence[HostArray]:
            start = time.perf_counter()
            results = run(node, inputs)
            record = self._eager.get(id(node))
            if record is not None:
                record.ran(time.perf_counter() - start)
            return results

        return timed


def _timed(run: Run, record: StepRecord) -> Run:
    def timed(inputs: Sequence[Buffer | HostArray]) -> Sequence[Buffer]:
        start = time.perf_counter()
        results = run(inputs)
        for buffer in results:
            buffer.wait()
        record.ran(time.perf_counter() - start)
        return results

    return timed


LEDGER = Ledger()
"""The process's ledger."""
