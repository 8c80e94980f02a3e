"""A launch on lazycore beside the bare call of the executable that it ends in."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import jax
import jax.numpy as jnp
from lazycore_xla.executable import JaxExecutable

import lazycore
from bench.recording import launches
from bench.subjects.step import Step
from lazycore.runtime import executor

__all__ = ["launching"]

REPEATS = 30
Call = tuple[Any, list[Any]]


def launching(step: Step) -> dict[str, float]:
    """Milliseconds from the trace's end until the launch returns, and those of the same executables' bare calls with
    copies of the same arrays. Nothing is waited for in either."""
    own, bare = [], []
    for _ in range(REPEATS):
        lazycore.sync()
        with _calls() as calls, launches() as seconds:
            step.run()
        lazycore.sync()
        own.append(sum(seconds) - sum(copying for _, copying in calls))
        bare.append(sum(_bare(*call) for call, _ in calls))
    return {"lazycore": round(min(own) * 1e3, 4), "bare call": round(min(bare) * 1e3, 4)}


@contextmanager
def _calls() -> Iterator[list[tuple[Call, float]]]:
    """What the block launches: each executable with copies of its arguments, and the seconds that copying took."""
    calls: list[tuple[Call, float]] = []
    call = executor._call

    def noted(step: Any, arguments: Sequence[Any]) -> Any:
        start = time.perf_counter()
        executable = step.run.__self__
        assert isinstance(executable, JaxExecutable), f"not an executable of xla: {executable}"
        arrays = [jnp.copy(a) if isinstance(a, jax.Array) else a for a in executable.arrays_of(arguments)]
        jax.block_until_ready(arrays)
        calls.append(((executable._compiled, arrays), time.perf_counter() - start))
        return call(step, arguments)

    executor._call = noted
    try:
        yield calls
    finally:
        executor._call = call


def _bare(compiled: Any, arrays: Sequence[Any]) -> float:
    # jax would read the run-time numbers as 32 bits outside of this.
    with jax.enable_x64(True):
        start = time.perf_counter()
        results = compiled(*arrays)
        seconds = time.perf_counter() - start
    jax.block_until_ready(results)
    return seconds
