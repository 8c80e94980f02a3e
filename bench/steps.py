"""A training step by way: ``python -m bench.steps``.

Each way runs in a process of its own, and the processes take turns: each figure is the smallest of the rounds' means,
as noise only adds. A step waits for the loss; ``every 10`` waits for every tenth only, so that recording a step may
overlap running the one before. ``record`` is what recording a step on lazycore costs beside the whole step of eager.
Losses are compared after the same number of steps, so that a way that computes something else does not count.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping
from contextlib import ExitStack

from bench.part import Options, Row, run
from bench.process import WorkerProcess
from bench.programs import PROGRAMS
from bench.ways import LAZYCORE, WAYS

__all__ = ["measure"]

WARM_UP, STEPS = 3, 10
EVERY = {"step ms": 1, "step ms, every 10": 10}


def measure(program: str, options: Options) -> Row:
    """A row of milliseconds."""
    rounds = 3 if options.quick else 7
    with ExitStack() as stack:
        workers = _start(stack, program, options)
        losses = {way: worker.ask("loss") for way, worker in workers.items()}
        row: Row = {"program": program}
        for what, every in EVERY.items():
            row[what] = _best(workers, rounds, every)
        if LAZYCORE in workers:
            row["record ms"] = {LAZYCORE: workers[LAZYCORE].ask("recording")["record"]}
            if "eager" in workers:
                row["record ms"]["eager's step"] = row["step ms"]["eager"]
    reference = next(iter(losses.values()))
    row["losses"] = list(losses.values())
    row["same loss"] = all(math.isclose(loss, reference, rel_tol=1e-3) for loss in losses.values())
    return row


def _start(stack: ExitStack, program: str, options: Options) -> Mapping[str, WorkerProcess]:
    workers = {
        way: stack.enter_context(WorkerProcess(program, way, options.threads, options.cache)) for way in options.ways
    }
    # Asked only now, so that their imports and first steps overlap.
    for worker in workers.values():
        worker.ask("seconds", WARM_UP, 1)
    return workers


def _best(workers: Mapping[str, WorkerProcess], rounds: int, every: int) -> dict[str, float]:
    turns = [{way: worker.ask("seconds", STEPS, every) for way, worker in workers.items()} for _ in range(rounds)]
    return {way: round(min(turn[way] for turn in turns) * 1e3, 3) for way in workers}


if __name__ == "__main__":
    sys.exit(run(__doc__, PROGRAMS, WAYS, measure))
