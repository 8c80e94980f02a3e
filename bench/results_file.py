"""Results checked in: a JSON file for each part, with the machine and the versions that it was measured on."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

__all__ = ["RESULTS", "merged", "read", "write"]

RESULTS = Path(__file__).parent / "results"
Result = Mapping[str, Any]
# What changes from one measurement to the next on the same machine.
_PASSING = ("load",)


def read(part: str) -> Result | None:
    """What is checked in of a part, None where it was never measured."""
    path = RESULTS / f"{part}.json"
    return json.loads(path.read_text()) if path.exists() else None


def write(part: str, result: Result) -> None:
    """Keep a result, in place of what was there."""
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"{part}.json").write_text(json.dumps(result, indent=1) + "\n")


def merged(old: Result | None, new: Result) -> Result:
    """``new`` with the rows of ``old`` that it has not measured, in the old order. Rows of another machine or of other
    versions are no company for each other: of those nothing is kept."""
    if old is None or _lasting(old) != _lasting(new):
        return new
    rows = {row["program"]: row for row in (*old["rows"], *new["rows"])}
    return {"machine": new["machine"], "rows": list(rows.values())}


def _lasting(result: Result) -> Sequence[tuple[str, Any]]:
    return sorted((k, v) for k, v in result["machine"].items() if k not in _PASSING)
