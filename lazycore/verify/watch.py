"""Watching plans: every launch of a segment is also computed eagerly, until one differs."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from lazycore_plugin_api import Buffer, DType, HostArray, Segment, TensorSpec
from lazycore_plugin_api.difference import Tolerance

from lazycore.compiler.failures import describe
from lazycore.compiler.plan import Plan, SegmentStep
from lazycore.compiler.protocols import Backend, RunEager
from lazycore.verify.finding import Finding
from lazycore.verify.search import smallest
from lazycore.verify.trial import Bench

__all__ = ["Stop", "Verifier"]


class Stop(SystemExit):
    """Ends the program at the launch that differed."""


@dataclass
class Verifier:
    """Compares the launches of the plans that it watches. ``finding`` is the first difference; the launch that showed
    it raises Stop, and nothing is compared afterwards. ``tolerances`` override dtypes' own. ``unknown``: segments that
    eager execution could not compute, so that nothing is said of them, and why."""

    run_eager: RunEager
    tolerances: Mapping[DType, Tolerance] = field(default_factory=dict)
    launches: int = 0
    segments: int = 0
    finding: Finding | None = None
    unknown: dict[str, str] = field(default_factory=dict)
    _lock: threading.RLock = field(default_factory=threading.RLock)

    def watch(self, plan: Plan, backends: Sequence[Backend]) -> Plan:
        """The plan with its segments' launches compared; ``backends`` are those it was compiled for."""
        steps = (self._watched(s, backends) if isinstance(s, SegmentStep) else s for s in plan.steps)
        return replace(plan, steps=tuple(steps))

    def _watched(self, step: SegmentStep, backends: Sequence[Backend]) -> SegmentStep:
        (backend, *_) = [b for b in backends if b.name == step.backend and b.session is step.session]
        self.segments += 1
        return replace(step, run=self._compared(step.segment, backend, step.run))

    def _compared(
        self, segment: Segment, backend: Backend, run: Callable[[Sequence[Buffer | HostArray]], Sequence[Buffer]]
    ) -> Callable[[Sequence[Buffer | HostArray]], Sequence[Buffer]]:
        def compared(inputs: Sequence[Buffer | HostArray]) -> Sequence[Buffer]:
            if self.finding is not None:
                return run(inputs)
            # Before the launch, which may overwrite what is donated to it.
            arguments = [_host(value) for value in inputs]
            results = run(inputs)
            if _fits(segment, results):
                self._check(segment, backend, arguments, [b.to_host() for b in results])
            return results

        return compared

    def _check(
        self, segment: Segment, backend: Backend, arguments: Sequence[HostArray], results: Sequence[HostArray]
    ) -> None:
        with self._lock:
            if self.finding is not None:
                return
            bench = self._bench(segment, backend, arguments)
            if bench is None:
                return
            self.launches += 1
            seen = bench.judge(segment, results)
            if not seen.differences:
                return
            trial = smallest(bench)
            self.finding = Finding(backend.target, segment, trial or seen, trial is not None)
        raise Stop(1)

    def _bench(self, segment: Segment, backend: Backend, arguments: Sequence[HostArray]) -> Bench | None:
        try:
            return Bench(backend, segment, arguments, self.run_eager, self.tolerances)
        except Exception as error:
            # A vendor's own op need not have a kernel for the CPU. That is no fault of the program, which goes on.
            self.unknown.setdefault(describe(backend.name, segment), f"{type(error).__name__}: {error}")
            return None


def _host(value: Buffer | HostArray) -> HostArray:
    return np.array(value.to_host() if isinstance(value, Buffer) else value, order="C", copy=True)


def _fits(segment: Segment, results: Sequence[object]) -> bool:
    """Whether the results are what the contract asks for; if not, the executor raises that."""
    wanted = [value.spec for value in segment.outputs]
    return [_spec(b) for b in results] == wanted


def _spec(buffer: object) -> TensorSpec | None:
    return buffer.spec if isinstance(buffer, Buffer) else None
