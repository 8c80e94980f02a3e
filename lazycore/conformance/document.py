"""A report as JSON, with a versioned schema, and what changed since an earlier one."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lazycore.conformance.case import Case, Outcome, Status
from lazycore.conformance.levels import LEVELS
from lazycore.conformance.running import Report, counts

__all__ = ["SCHEMA", "as_document", "changes", "read", "reproducer"]

SCHEMA = 1
"""Grows when a field is removed or changes its meaning; readers refuse what they do not know."""


def as_document(report: Report) -> dict[str, Any]:
    """The report as JSON has it."""
    request = report.request
    return {
        "schema": SCHEMA,
        "started": report.started,
        "seconds": round(report.seconds, 2),
        "request": {
            "backend": request.backend,
            "level": request.level,
            "sample": request.sample,
            "cases": request.cases,
        },
        "about": report.about,
        "passed": report.is_passed,
        "passed_level": report.passed_level(),
        "levels": [_level(report, level.number) for level in LEVELS if level.number <= request.level],
        "counts": counts(list(report.outcomes.values())),
        "stale_xfails": report.stale,
        "claimed_without_execution": report.unproven,
        "patterns_without_a_match": report.unmatched,
        "tolerances": _tolerances(report),
        "matrix": matrix(report),
        "cases": [_case(report, case, outcome) for case, outcome in report.outcomes.items()],
    }


def _level(report: Report, number: int) -> dict[str, Any]:
    level = LEVELS[number]
    mine = [o for c, o in report.outcomes.items() if c.level == number]
    return {
        "number": number, "name": level.name, "checks": level.checks, "permits": level.permits,
        "passed": number <= report.passed_level(), "counts": counts(mine),
        "seconds": round(sum(o.seconds for o in mine), 2),
    }  # fmt: skip


def _case(report: Report, case: Case, outcome: Outcome) -> dict[str, Any]:
    record = {"id": case.id, "level": case.level, **outcome.record()}
    if outcome.status.is_bad:
        record["reproduce"] = reproducer(report.request.backend, case)
    return record


def _tolerances(report: Report) -> dict[str, list[float]]:
    used: dict[str, list[float]] = {}
    for outcome in report.outcomes.values():
        used |= {key: list(pair) for key, pair in outcome.tolerances.items() if any(pair)}
    return dict(sorted(used.items()))


def matrix(report: Report) -> dict[str, dict[str, str]]:
    """Op -> dtype -> ``native``, ``fails``, ``unclaimed`` or ``unproven``, by the cases about one op in one dtype."""
    found: dict[str, dict[str, str]] = {}
    for case, outcome in report.outcomes.items():
        _, _, rest = case.id.partition("/")
        op, _, dtype = rest.rpartition("/")
        if case.group not in ("graph", "odd") or outcome.status is Status.skipped:
            continue
        row = found.setdefault(op, {})
        state = _state(outcome)
        row[dtype] = _worse(row.get(dtype), state)
    for label in report.unproven:
        op, _, dtype = label.partition(" ")
        found.setdefault(op, {})[dtype] = "unproven"
    return found


def _state(outcome: Outcome) -> str:
    if outcome.status in (Status.failed, Status.xfailed, Status.xpassed):
        return "fails"
    return "native" if outcome.claimed else "unclaimed"


_ORDER = ("unclaimed", "native", "unproven", "fails")


def _worse(one: str | None, other: str) -> str:
    return other if one is None else max(one, other, key=_ORDER.index)


def reproducer(backend: str, case: Case) -> str:
    """The command that runs one case again."""
    return f"lazycore conformance --backend {shlex.quote(backend)} --cases '^{case.id}$'"


def read(path: Path) -> dict[str, Any]:
    """An earlier report. Raises ValueError for a file that is none, or one of another schema."""
    document = json.loads(path.read_text())
    if not isinstance(document, dict) or document.get("schema") != SCHEMA:
        raise ValueError(f"{path} is no conformance report of schema {SCHEMA}")
    return document


def changes(earlier: Mapping[str, Any], now: Mapping[str, Any]) -> dict[str, list[str]]:
    """Case ids that are ``broken`` or ``mended`` since the earlier report, ``new`` or ``gone``."""
    before = {case["id"]: case["status"] for case in earlier["cases"]}
    after = {case["id"]: case["status"] for case in now["cases"]}
    bad = ("failed", "xpassed")
    both = [case for case in after if case in before]
    return {
        "broken": [c for c in both if after[c] in bad and before[c] not in bad],
        "mended": [c for c in both if after[c] not in bad and before[c] in bad],
        "new": [c for c in after if c not in before],
        "gone": [c for c in before if c not in after],
    }
