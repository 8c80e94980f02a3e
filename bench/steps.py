"""A training step on lazycore beside PyTorch eager, torch.compile and jax by hand: ``python -m bench.steps``.

The ways take turns on one machine in one process, and each figure is the smallest of the rounds' means: noise only
adds. ``--every 10`` waits for the loss every ten steps, so that recording a step may overlap the running one. Losses
are compared after the same number of steps, so that a way that computes something else does not count.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import platform
import sys
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch
from rich.console import Console
from rich.table import Table

import lazycore
from bench.programs import PROGRAMS, Program
from bench.subjects import SUBJECTS, Step

WARM_UP = 4


def main() -> int:
    """Measure and print; exits with 1 where a loss differs."""
    options = _options()
    torch.set_num_threads(options.threads)
    rows, same = [], True
    with lazycore.use_backend(options.backend):
        for name in options.programs.split(","):
            row = measure(PROGRAMS[name], options)
            rows.append(row)
            same &= row["same loss"]
            print(f"{name}: measured", file=sys.stderr)
    Console().print(table(rows, options))
    if options.out:
        Path(options.out).write_text(json.dumps({"machine": machine(options), "rows": rows}, indent=1) + "\n")
    return 0 if same else 1


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", default=",".join(PROGRAMS))
    parser.add_argument("--ways", default=",".join(SUBJECTS))
    parser.add_argument("--backend", default="xla")
    parser.add_argument("--every", type=int, default=1, help="wait after so many steps")
    parser.add_argument("--steps", type=int, default=10, help="steps in a round")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1, help="of PyTorch")
    parser.add_argument("--out", default="", help="a JSON file for the results")
    return parser.parse_args()


def measure(program: Program, options: argparse.Namespace) -> dict[str, Any]:
    """Milliseconds of a step and seconds of the first, by way, and whether all arrive at the same loss."""
    steps, first = {}, {}
    for way in options.ways.split(","):
        start = time.perf_counter()
        steps[way] = SUBJECTS[way](program)
        steps[way].seconds(1, 1)
        first[way] = round(time.perf_counter() - start, 3)
        steps[way].seconds(WARM_UP - 1, 1)
    losses = [step.loss() for step in steps.values()]
    rounds = [
        {way: step.seconds(options.steps, options.every) for way, step in steps.items()} for _ in range(options.rounds)
    ]
    best = {way: round(min(r[way] for r in rounds) * 1e3, 3) for way in steps}
    same = all(math.isclose(loss, losses[0], rel_tol=1e-3) for loss in losses)
    return {"program": program.name, "step ms": best, "first s": first, "losses": losses, "same loss": same,
            "tracing ms": _tracing(steps.get("lazycore"))}  # fmt: skip


def _tracing(step: Step | None) -> float | None:
    """Milliseconds in which a step that waits for nothing is recorded and launched (the column ``record``)."""
    if step is None:
        return None
    times = []
    for _ in range(10):
        lazycore.sync()
        start = time.perf_counter()
        step.run()
        times.append(time.perf_counter() - start)
    lazycore.sync()
    return round(min(times) * 1e3, 3)


def table(rows: list[dict[str, Any]], options: argparse.Namespace) -> Table:
    """The results, with lazycore's time as a multiple of each other way's."""
    ways = options.ways.split(",")
    shown = Table(title=f"ms a training step, waiting every {options.every}; PyTorch on {options.threads} threads")
    for heading in ("program", *ways, *(f"/ {w}" for w in ways if w != "lazycore"), "record", "loss"):
        shown.add_column(heading, justify="left" if heading == "program" else "right")
    for row in rows:
        best = row["step ms"]
        ratios = [f"{best['lazycore'] / best[w]:.2f}x" if "lazycore" in best else "" for w in ways if w != "lazycore"]
        same = "same" if row["same loss"] else "DIFFERS"
        shown.add_row(row["program"], *(f"{best[w]:.2f}" for w in ways), *ratios, str(row["tracing ms"]), same)
    return shown


def machine(options: argparse.Namespace) -> dict[str, Any]:
    """What the figures depend on."""
    versions = {name: version(name) for name in ("torch", "jax", "jaxlib", "numpy", "lazycore")}
    return {"cpus": os.cpu_count(), "machine": platform.machine(), "python": platform.python_version(),
            "load": os.getloadavg(), "options": vars(options), **versions}  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())
