"""One way of running one program, in a process of its own: ``python -m bench.worker PROGRAM WAY THREADS``.

It reads commands from its standard input, a JSON list each, and answers each with a line of JSON. In that manner
processes take turns in one measurement although none has the others' imports, memory, threads or allocator.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from importlib import import_module
from typing import Any

from bench.memory import forget_peak, peak_mib, resident_mib
from bench.ways import ALL, Way

__all__ = ["main"]

Commands = dict[str, Callable[..., Any]]


def main() -> None:
    start = time.perf_counter()
    program, way, threads = sys.argv[1], ALL[sys.argv[2]], int(sys.argv[3])
    # Libraries may print, which must not be taken for an answer.
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    if way.keeps:
        _keep_memory()
    make = _imported(way, threads)
    imports = time.perf_counter() - start
    commands = {"imports": lambda: imports, **_begin(lambda: make(program), way)}
    for line in sys.stdin:
        name, *arguments = json.loads(line)
        print(json.dumps(commands[name](*arguments)), file=answers)


def _keep_memory() -> None:
    from lazycore.cli.allocator import keep_memory

    if not keep_memory():
        sys.exit("this C library's allocator cannot be told to keep memory")


def _imported(way: Way, threads: int) -> Callable[[str], Any]:
    """How to make a program's step. Frameworks import much with the first thing that they run, so one has run."""
    import torch

    from bench.programs import OF_REWRITES, PROGRAMS, TINY

    torch.set_num_threads(threads)
    make = import_module(f"bench.subjects.{way.module}").step
    make(TINY, compiled=way.compiled).seconds(1, 1)
    return lambda program: make((PROGRAMS | OF_REWRITES)[program], compiled=way.compiled)


def _begin(make: Callable[[], Any], way: Way) -> Commands:
    """Train the first step; the commands."""
    imports = resident_mib()
    forget_peak()
    start = time.perf_counter()
    step = make()
    step.seconds(1, 1)
    first = time.perf_counter() - start
    commands: Commands = {
        "first": lambda: first,
        "seconds": step.seconds,
        "turn": step.turn,
        "loss": step.loss,
        "peak": lambda: peak_mib() - imports,
    }
    return commands | (_lazycore_commands(step) if way.module == "lazy" else {})


def _lazycore_commands(step: Any) -> Commands:
    from bench.launching import launching
    from bench.recording import recording

    return {"recording": lambda: recording(step), "launching": lambda: launching(step)}


if __name__ == "__main__":
    main()
