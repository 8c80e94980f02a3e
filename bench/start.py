"""What it takes to get going, and memory: ``python -m bench.start``.

A process trains the first step with empty caches, another one with what the first has kept on disk. ``imports`` is the
time, in the latter, until a network of a few neurons is trained, which is when everything is imported; ``first step``
is that of the program after that. Memory is the most that a process holds while it makes twenty steps, above what it
held after its imports: ``with compiling`` in the process with empty caches.
"""

from __future__ import annotations

import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

from bench.part import Options, Row, run
from bench.process import WorkerProcess
from bench.ways import WAYS

__all__ = ["measure"]

PROGRAMS = ("mlp", "gpt", "resnet", "lstm")
STEPS = 20
STARTS = {"cold": "with compiling", "warm": "with warm caches"}


def measure(program: str, options: Options) -> Row:
    """A row of seconds and MiB. A way that differs from an earlier one in its allocator only has no cold start."""
    row: dict[str, dict[str, float]] = defaultdict(dict)
    with tempfile.TemporaryDirectory() as folder:
        for way in options.ways:
            for start in ("warm",) if _has_started(way, row["imports s"]) else STARTS:
                with WorkerProcess(program, way, options.threads, Path(folder)) as worker:
                    row[f"first step s, {start}"][way] = round(worker.ask("first"), 3)
                    worker.ask("seconds", STEPS, 1)
                    row[f"peak MiB, {STARTS[start]}"][way] = round(worker.ask("peak"), 1)
                    row["imports s"][way] = round(worker.ask("imports"), 3)
    return {"program": program, **row}


def _has_started(way: str, earlier: Iterable[str]) -> bool:
    own = WAYS[way]
    return any((WAYS[w].module, WAYS[w].compiled) == (own.module, own.compiled) for w in earlier)


if __name__ == "__main__":
    sys.exit(run(__doc__, PROGRAMS, WAYS, measure))
