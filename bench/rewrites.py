"""What single rewrites and choices of the compiler gain: ``python -m bench.rewrites``.

A step on lazycore beside the same step with one thing less, each in a process of its own that takes turns with the
others.
"""

from __future__ import annotations

import sys
from contextlib import ExitStack

from bench.part import Options, Row, run
from bench.programs.lstm import WRITTEN
from bench.steps import best, started
from bench.ways import LAZYCORE, LESS

__all__ = ["measure"]

PROGRAMS = ("lstm", WRITTEN.name, "gpt", "resnet")
EVERY, STEPS, TURNS = 1, 4, 12


def measure(program: str, options: Options) -> Row:
    """A row of milliseconds."""
    with ExitStack() as stack:
        workers = started(stack, program, options)
        turns = TURNS // 3 if options.quick else TURNS
        return {"program": program, "step ms, one thing less": best(workers, EVERY, STEPS, turns)}


if __name__ == "__main__":
    sys.exit(run(__doc__, PROGRAMS, (LAZYCORE, *LESS), measure))
