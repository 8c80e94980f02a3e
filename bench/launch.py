"""A launch beside the bare call of its executable: ``python -m bench.launch``.

The launch goes from the trace's end (looking up the plan, binding its inputs, giving storages their results) to the
return of the executable's call; the bare call gets copies of the same arrays.
"""

from __future__ import annotations

import sys

from bench.part import Options, Row, run
from bench.process import WorkerProcess
from bench.ways import LAZYCORE

__all__ = ["measure"]

PROGRAMS = ("mlp", "gpt")
WARM_UP = 5


def measure(program: str, options: Options) -> Row:
    """A row of milliseconds."""
    with WorkerProcess(program, LAZYCORE, options.threads, options.cache) as worker:
        worker.ask("seconds", WARM_UP, 1)
        return {"program": program, "launch ms": worker.ask("launching")}


if __name__ == "__main__":
    sys.exit(run(__doc__, PROGRAMS, (LAZYCORE,), measure))
