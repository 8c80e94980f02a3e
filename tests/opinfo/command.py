"""The command line that the three parts of the database share: options, worker processes, report."""

from __future__ import annotations

import argparse
import json
import os
import re
import time
from collections.abc import Callable, Sequence
from typing import Any

from lazycore.conformance.database.outcome import Outcome
from lazycore.conformance.workers import Failure, Here, run_cases
from tests.opinfo.known import known_failures, report

__all__ = ["arguments", "run"]

Case = tuple[str, str]


def arguments(description: str | None, out: str, seconds: int) -> argparse.ArgumentParser:
    """The options of every part. ``seconds``: how long a case may take."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--backend", default="reference")
    parser.add_argument("--ops", default=".*", help="regular expression that a name must contain")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 2)
    parser.add_argument("--part", default="1/1", help="K/N: every N-th case, from the K-th")
    parser.add_argument("--timeout", type=int, default=seconds)
    parser.add_argument("--out", default=out)
    return parser


def run(
    options: argparse.Namespace,
    kinds: Sequence[str],
    cases: Callable[[], list[Case]],
    one: Callable[[Case], dict[str, Any]],
) -> int:
    """Run all cases in processes of their own, write one JSON line per case, report. Returns the exit code.

    ``cases()`` names all there are, as (name, kind); it is called where the environment is set, as are ``one`` and what
    they import.
    """
    _environment(options.backend)
    part, parts = map(int, options.part.split("/"))
    work = [case for case in cases() if re.search(options.ops, case[0])][part - 1 :: parts]
    start, rows = time.monotonic(), []
    with open(options.out, "w") as out:
        for case, result in run_cases(one, work, options.jobs, options.timeout, origin=Here()):
            rows.append(_broken(case, result) if isinstance(result, Failure) else result)
            out.write(json.dumps(rows[-1]) + "\n")
            out.flush()
    print(f"{len(rows)} cases in {time.monotonic() - start:.0f} s")
    whole = options.ops == ".*" and parts == 1
    return report(rows, known_failures(options.backend), kinds if whole else ())


def _environment(backend: str) -> None:
    os.environ["LAZYCORE_BACKEND"] = backend
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    import torch

    import lazycore

    # Results are compared with the CPU, so random ops must draw what it draws.
    lazycore.config.rng = "cpu"
    # Ten thousands of programs of one op, none of which anybody wants again.
    lazycore.config.cache = False

    torch.set_num_threads(1)


def _broken(case: Case, failure: Failure) -> dict[str, Any]:
    """A case that gave no result is one sample that failed."""
    return Outcome(*case, samples=1, errors=[str(failure)]).row()
