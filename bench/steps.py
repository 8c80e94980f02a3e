"""A training step by way: ``python -m bench.steps``.

Each way runs in a process of its own, and the processes take turns: each figure is the smallest of the turns' means, as
noise only adds. A turn's first step does not count: it finds the processor's caches full of the other processes' data,
which no program that trains by itself does. A step waits for the loss, which on lazycore may be there before the rest
of the step, so that recording the next overlaps it; ``all of it`` waits for the rest as well. ``every 10`` reads every
tenth loss only. ``record`` is what recording a step on lazycore costs beside the whole step of eager.
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

__all__ = ["best", "measure", "started"]

WARM_UP = 3
# What is measured -> waiting after so many steps, for all of it, steps in a turn, turns. Turns are short, so that some
# go undisturbed.
TURNS = {"step ms": (1, False, 4, 12), "step ms, all of it": (1, True, 4, 12), "step ms, every 10": (10, False, 10, 4)}


def measure(program: str, options: Options) -> Row:
    """A row of milliseconds."""
    with ExitStack() as stack:
        workers = started(stack, program, options)
        losses = {way: worker.ask("loss") for way, worker in workers.items()}
        row: Row = {"program": program}
        for what, (every, whole, steps, turns) in TURNS.items():
            row[what] = best(workers, every, steps, turns // 3 if options.quick else turns, whole)
        if LAZYCORE in workers:
            row["record ms"] = {LAZYCORE: workers[LAZYCORE].ask("recording")["record"]}
            if "eager" in workers:
                row["record ms"]["eager's step"] = row["step ms"]["eager"]
    reference, rtol = next(iter(losses.values())), PROGRAMS[program].loss_rtol
    row["losses"] = list(losses.values())
    row["same loss"] = all(math.isclose(loss, reference, rel_tol=rtol) for loss in losses.values())
    return row


def started(stack: ExitStack, program: str, options: Options) -> Mapping[str, WorkerProcess]:
    """A process for each way, which has trained a few steps."""
    workers = {
        way: stack.enter_context(WorkerProcess(program, way, options.threads, options.cache)) for way in options.ways
    }
    # Asked only now, so that their imports and first steps overlap.
    for worker in workers.values():
        worker.ask("seconds", WARM_UP, 1)
    return workers


def best(
    workers: Mapping[str, WorkerProcess], every: int, steps: int, turns: int, whole: bool = False
) -> dict[str, float]:
    """Milliseconds a step by way: the smallest of the turns' means."""
    taken = [{way: worker.ask("turn", steps, every, whole) for way, worker in workers.items()} for _ in range(turns)]
    return {way: round(min(turn[way] for turn in taken) * 1e3, 3) for way in workers}


if __name__ == "__main__":
    sys.exit(run(__doc__, PROGRAMS, WAYS, measure))
