"""The whole benchmark as one command: ``python -m bench [PART …]``.

Measures the parts, each in processes of its own, shows their tables, keeps the results in ``bench/results`` and writes
``docs/speed.md`` with its plots. With ``--check`` nothing is written: the ratios of lazycore to the other ways are held
against the results checked in, and the exit code is 1 where one has regressed in two measurements. Options that are
not listed go to the parts: ``python -m bench.steps --help`` shows them.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench.check import Regression, better, regressions
from bench.parts import PARTS
from bench.results_file import merged, read, write


def main() -> int:
    options, passed = _options()
    if options.page:
        return _page()
    if options.check:
        return _check(options.parts, passed, options.tolerance)
    for part in options.parts:
        write(part, merged(read(part), _measured(part, passed)))
    return _page()


def _options() -> tuple[argparse.Namespace, list[str]]:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)  # fmt: skip
    parser.add_argument("parts", nargs="*", metavar="PART", help=", ".join(PARTS))
    parser.add_argument("--programs", default="", help="rows to measure anew; the others stay")
    parser.add_argument("--quick", action="store_true", help="fewer rounds; always so with --check")
    parser.add_argument("--check", action="store_true", help="compare ratios instead of keeping them")
    parser.add_argument("--tolerance", type=float, default=0, help="for all parts, instead of their own")
    parser.add_argument("--page", action="store_true", help="measure nothing, only write the page anew")
    options, further = parser.parse_known_args()
    if unknown := set(options.parts) - set(PARTS):
        parser.error(f"no such part: {', '.join(sorted(unknown))}; there are {', '.join(PARTS)}")
    options.parts = options.parts or list(PARTS)
    passed = ["--programs", options.programs] if options.programs else []
    return options, passed + (["--quick"] if options.quick or options.check else []) + further


def _measured(part: str, passed: Sequence[str]) -> dict[str, Any]:
    """A part's result. Ends the program where the part fails."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "result.json"
        command = [sys.executable, "-m", f"bench.{part}", *passed, "--out", str(out)]
        code = subprocess.run(command, check=False).returncode
        if code:
            sys.exit(f"bench: {' '.join(command[1:-2])} ended with exit code {code}")
        result: dict[str, Any] = json.loads(out.read_text())
        return result


def _page() -> int:
    try:
        from bench.page import write_page
    except ImportError as error:
        sys.exit(f"bench: the plots need matplotlib: pip install -e '.[bench]' ({error})")
    print(f"bench: wrote {write_page()}", file=sys.stderr)
    return 0


def _check(parts: Sequence[str], passed: Sequence[str], tolerance: float) -> int:
    worse: list[Regression] = []
    for part in parts:
        stored = read(part)
        if stored is None:
            print(f"bench: there is no result of {part} to compare to", file=sys.stderr)
            continue
        same = ["--threads", str(stored["machine"]["threads"]), *passed]
        worse += _regressed(part, stored["rows"], same, tolerance or PARTS[part].tolerance)
    for regression in worse:
        print(f"bench: REGRESSED {regression}", file=sys.stderr)
    if not worse:
        print(f"bench: nothing regressed in {', '.join(parts)}", file=sys.stderr)
    return 1 if worse else 0


def _regressed(part: str, stored: Sequence[Any], passed: Sequence[str], tolerance: float) -> list[Regression]:
    first = regressions(stored, _measured(part, passed)["rows"], tolerance)
    if not first:
        return []
    names = ",".join(dict.fromkeys(regression.program for regression in first))
    # The last of an option given twice counts.
    second = _measured(part, [*passed, "--programs", names])["rows"]
    return better(first, regressions(stored, second, tolerance))


if __name__ == "__main__":
    sys.exit(main())
