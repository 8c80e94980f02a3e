"""A part of the benchmark: its command line, which is the same for all, and the file that it writes.

A part measures rows. A row is a dictionary whose ``program`` names it; each of its values that is a dictionary with the
key ``lazycore`` holds one measurement by way, and its key says what and in which unit. Tables, plots, targets and the
check against earlier results know rows only by that.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console

from bench.machine import machine
from bench.tables import terminal_tables

__all__ = ["Options", "Row", "run"]

Row = dict[str, Any]
Measure = Callable[[str, "Options"], Row]


@dataclass(frozen=True)
class Options:
    """``threads``: of PyTorch; ``cache``: where compilers keep their results between processes; ``quick``: fewer
    rounds, for a look; ``ways``: those to compare, where the part lets one choose."""

    programs: Sequence[str]
    ways: Sequence[str]
    threads: int
    cache: Path
    quick: bool


def run(about: str | None, programs: Iterable[str], ways: Iterable[str], measure: Measure) -> int:
    """The part as a command; its exit code is 1 where ways that should agree do not."""
    options, out = _read(about or "", programs, ways)
    rows = []
    for name in options.programs:
        rows.append(measure(name, options))
        print(f"{name}: measured", file=sys.stderr)
    for table in terminal_tables(rows):
        Console(width=None if sys.stdout.isatty() else 160).print(table)
    if out:
        result = {"machine": machine() | {"threads": options.threads, "load": os.getloadavg()[0]}, "rows": rows}
        Path(out).write_text(json.dumps(result, indent=1) + "\n")
    different = [row["program"] for row in rows if not row.get("same loss", True)]
    if different:
        print(f"the ways end at different losses: {', '.join(different)}", file=sys.stderr)
    return 1 if different else 0


def _read(about: str, programs: Iterable[str], ways: Iterable[str]) -> tuple[Options, str]:
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", default=",".join(programs))
    parser.add_argument("--ways", default=",".join(ways))
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1, help="of PyTorch")
    parser.add_argument("--cache", type=Path, default=Path(tempfile.gettempdir()) / "lazycore-bench",
                        help="compilers keep their results there between processes")  # fmt: skip
    parser.add_argument("--quick", action="store_true", help="fewer rounds")
    parser.add_argument("--out", default="", help="a JSON file for the results")
    given = parser.parse_args()
    options = Options(given.programs.split(","), _split(given.ways), given.threads, given.cache, given.quick)
    return options, given.out


def _split(ways: str) -> list[str]:
    # Names of ways have commas of their own, with a space behind.
    return [way.replace("\0", ", ") for way in ways.replace(", ", "\0").split(",")]
