"""A step on lazycore taken apart: what is recorded, and what it takes to launch that."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import lazycore
from bench.subjects.step import Step
from lazycore.frontend import sync

__all__ = ["launches", "recording"]

REPEATS = 10


def recording(step: Step) -> dict[str, float]:
    """Milliseconds until a step is recorded, and then until it is launched: nothing is waited for."""
    parts = []
    for _ in range(REPEATS):
        lazycore.sync()
        with launches() as seconds:
            start = time.perf_counter()
            step.run()
            whole = time.perf_counter() - start
        parts.append((whole - sum(seconds), sum(seconds)))
    lazycore.sync()
    record, launch = (min(p) for p in zip(*parts, strict=True))
    return {"record": record * 1e3, "launch": launch * 1e3}


@contextmanager
def launches() -> Iterator[list[float]]:
    """The seconds of each barrier in the block, from the trace's end to the return of the last executable's call."""
    seconds: list[float] = []
    run_trace = sync.run_trace

    def timed(trace: Any, cause: str) -> None:
        start = time.perf_counter()
        run_trace(trace, cause)
        seconds.append(time.perf_counter() - start)

    sync.run_trace = timed
    try:
        yield seconds
    finally:
        sync.run_trace = run_trace
