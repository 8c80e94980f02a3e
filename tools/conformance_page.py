"""Write docs/conformance-results.md: what the conformance suite found of the backends of this repository.

``python tools/conformance_page.py report.json…`` keeps what the page needs of reports in docs/conformance, one file for
each backend; without arguments, as ``make docs`` runs it, the page is made of what is there.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from lazycore.conformance.levels import LEVELS
from lazycore.conformance.scorecard import by_family, in_order

__all__ = ["FOLDER", "PAGE", "page", "results", "summary"]

DOCS = Path(__file__).parents[1] / "docs"
PAGE, FOLDER = DOCS / "conformance-results.md", DOCS / "conformance"
ORDER = ("reference", "xla", "tvm")
LETTERS = {"reference": "R", "xla": "X", "tvm": "T"}
STATUSES = ("passed", "failed", "unclaimed", "skipped", "xfailed")
KEPT = ("schema", "started", "seconds", "request", "passed", "passed_level", "counts")
ABOUT = ("backend", "version", "target", "versions", "host", "loosened", "xfails", "own_cases")

_HEAD = """\
# Conformance: results

<!-- Made by `make docs` from docs/conformance/*.json, which are kept of whole runs. Not edited by hand. -->

What [the conformance suite](conformance.md) finds of the backends of this repository. *Unclaimed* cases are of
operators that a backend leaves to others, *skipped* ones say nothing about it, *expected* ones fail as its profile
says.
"""


def summary(document: Mapping[str, Any]) -> dict[str, Any]:
    """What the page needs of a report. Raises ValueError for one of a part of the suite."""
    if document["request"]["sample"] or document["request"]["cases"]:
        raise ValueError("the report is of a part of the cases; the page shows whole runs")
    states: dict[str, dict[str, str]] = {}
    for op, row in sorted(document["matrix"].items()):
        by_state = {state: in_order({d for d in row if row[d] == state}) for state in sorted(set(row.values()))}
        states[op] = {state: " ".join(dtypes) for state, dtypes in by_state.items()}
    levels = [{k: level[k] for k in ("number", "passed", "counts", "seconds")} for level in document["levels"]]
    kept = {k: document[k] for k in KEPT}
    return {**kept, "about": {k: document["about"][k] for k in ABOUT}, "levels": levels, "matrix": states}


def results() -> dict[str, dict[str, Any]]:
    """Backend -> its summary."""
    found = (FOLDER / f"{name}.json" for name in ORDER)
    return {path.stem: json.loads(path.read_text()) for path in found if path.exists()}


def page(found: Mapping[str, Mapping[str, Any]]) -> str:
    """The page's text."""
    parts = (_overview(found), _levels(found), _vendors(found), _operators(found), _again(found))
    return _HEAD + "".join(f"\n{line}" for part in parts for line in part) + "\n"


def _table(head: Iterable[str], rows: Iterable[Iterable[object]]) -> Iterator[str]:
    names = list(head)
    yield "| " + " | ".join(names) + " |"
    yield "| " + " | ".join("---" for _ in names) + " |"
    for row in rows:
        yield "| " + " | ".join(map(str, row)) + " |"


def _overview(found: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    def row(name: str, result: Mapping[str, Any]) -> list[object]:
        level = result["passed_level"]
        asked = result["request"]["level"]
        passes = f"levels 0 to {level}" if level >= 0 else "none"
        counts = [result["counts"][status] for status in STATUSES]
        return [name, result["about"]["version"], passes, f"0 to {asked}", *counts, round(result["seconds"] / 60)]

    head = ("backend", "version", "passes", "asked for", *_named(STATUSES), "minutes")
    yield from _table(head, (row(name, result) for name, result in found.items()))


def _named(statuses: Iterable[str]) -> list[str]:
    return ["expected" if status == "xfailed" else status for status in statuses]


def _levels(found: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    yield from ("", "## Levels", "")
    rows = (
        [name, f"{level['number']} {LEVELS[level['number']].name}", "yes" if level["passed"] else "no"]
        + [level["counts"][status] for status in STATUSES]
        + [round(level["seconds"])]
        for name, result in found.items()
        for level in result["levels"]
    )
    yield from _table(("backend", "level", "passed", *(f"cases {n}" for n in _named(STATUSES)), "seconds"), rows)


def _vendors(found: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    yield from ("", "## What the backends say of themselves")
    for name, result in found.items():
        about = result["about"]
        yield from ("", f"### {name}", "")
        yield f"- Tolerances loosened: {'none' if not about['loosened'] else ''}".rstrip()
        for op, (rtol, atol) in about["loosened"].items():
            yield f"    - `{op}`: rtol {rtol:g}, atol {atol:g}"
        yield f"- Expected failures: {'none' if not about['xfails'] else ''}".rstrip()
        for case, reason in about["xfails"].items():
            yield f"    - `{case}`: {reason}"
        yield f"- Cases of its own: {', '.join(f'`{case}`' for _, case in about['own_cases']) or 'none'}"
        versions = ", ".join(f"{package} {version}" for package, version in about["versions"].items())
        host = about["host"]
        yield f"- Run {result['started'][:10]} on {host['machine']} of {host['cpus']} cores: {versions}"


def _matrix(found: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, str]]:
    """Op -> dtype -> letters of the backends: of those that compute it, in lower case of those that fail."""
    cells: dict[str, dict[str, str]] = {}
    for name, result in found.items():
        for op, states in result["matrix"].items():
            row = cells.setdefault(op, {})
            for state, dtypes in states.items():
                letter = {"native": LETTERS[name], "unclaimed": ""}.get(state, LETTERS[name].lower())
                for dtype in dtypes.split():
                    row[dtype] = row.get(dtype, "") + letter
    return cells


def _operators(found: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    cells = _matrix(found)
    dtypes = in_order({dtype for row in cells.values() for dtype in row})
    yield from ("", "## Operators", "")
    yield "How many pairs of an operator and a dtype each backend computes, of those that the suite has cases for:"
    yield ""
    families = by_family(cells)
    rows = (
        [f"[{family}](#{_anchor(family)})", sum(len(row) for row in ops.values())]
        + [sum(LETTERS[name] in cell for row in ops.values() for cell in row.values()) for name in found]
        for family, _, ops in families
    )
    yield from _table(("class", "pairs", *found), rows)
    keys = ", ".join(f"{LETTERS[name]} {name}" for name in found)
    yield from ("", f"In the tables: {keys}; in lower case: fails, or was claimed and never executed; -: no backend.")
    for family, _, ops in families:
        yield from ("", f"### {family}", "")
        yield from _table(("operator", *dtypes), (_operator(op, row, dtypes) for op, row in ops.items()))


def _operator(op: str, row: Mapping[str, str], dtypes: Iterable[str]) -> list[str]:
    return [f"`{op}`", *((row[dtype] or "-") if dtype in row else "" for dtype in dtypes)]


def _anchor(title: str) -> str:
    return title.lower().replace(",", "").replace(" ", "-")


def _again(found: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    yield from ("", "## How to see it again", "", "```")
    for name, result in found.items():
        level = result["request"]["level"]
        yield f"lazycore conformance --backend {name} --level {level} --report {name}-report"
    yield f"python tools/conformance_page.py {' '.join(f'{name}-report/report.json' for name in found)}"
    yield from ("make docs", "```")


def main(paths: list[str]) -> None:
    """Keep the reports, and write the page."""
    FOLDER.mkdir(exist_ok=True)
    for path in paths:
        kept = summary(json.loads(Path(path).read_text()))
        (FOLDER / f"{kept['about']['backend']}.json").write_text(_lines(kept))
    PAGE.write_text(page(results()))


def _lines(kept: Mapping[str, Any]) -> str:
    """JSON with a line per operator, so that differences can be read."""
    matrix = ",\n".join(f"  {json.dumps(op)}: {json.dumps(states)}" for op, states in kept["matrix"].items())
    rest = [f" {json.dumps(k)}: {json.dumps(v)}" for k, v in kept.items() if k != "matrix"]
    return "{\n" + ",\n".join([*rest, f' "matrix": {{\n{matrix}\n }}']) + "\n}\n"


if __name__ == "__main__":
    main(sys.argv[1:])
