"""What a run found against the list of known failures, ``known.json``: one line per case, sorted.

A case is an op and a dtype (``cat float32``), an op's error inputs (``cat errors``) or a module (``Linear module``).
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

__all__ = ["KNOWN", "known_failures", "report"]

KNOWN = Path(__file__).with_name("known.json")


def known_failures(backend: str) -> dict[str, str]:
    """Case -> why it fails."""
    return json.loads(KNOWN.read_text()).get(backend, {})  # type: ignore[no-any-return]


def report(rows: Sequence[Mapping[str, Any]], known: Mapping[str, str], kinds: Collection[str]) -> int:
    """Print what failed and what fell back; 0 if that is exactly what the list says, else 1.

    ``kinds``: the second words of the cases that this run covers whole, so that a listed one that did not run names
    nothing; empty for a part of the database.
    """
    failed = {_case(row): row["errors"][0] for row in rows if row["errors"]}
    ran = {_case(row) for row in rows}
    new = {case: why for case, why in failed.items() if case not in known}
    mended = [case for case in known if case in ran and case not in failed]
    stale = [case for case in known if case not in ran and case.rpartition(" ")[2] in kinds]
    for case, why in new.items():
        print(f"FAILED {case}: {why}")
    for case in mended:
        print(f"PASSES {case}: take it off the list")
    for case in stale:
        print(f"UNKNOWN {case}: the database has no such case; take it off the list")
    _summary(rows, failed)
    return 1 if new or mended or stale else 0


def _case(row: Mapping[str, Any]) -> str:
    return f"{row['op']} {row['dtype']}"


def _summary(rows: Sequence[Mapping[str, Any]], failed: Mapping[str, str]) -> None:
    names, bad = {row["op"] for row in rows}, {case.rpartition(" ")[0] for case in failed}
    total, right, native = (sum(row[column] for row in rows) for column in ("samples", "forward", "native"))
    print(
        f"{len(names) - len(bad)} of {len(names)} right; samples: {right} of {total} right, {native} without fallback"
    )
    fallbacks: Counter[str] = Counter()
    for row in rows:
        fallbacks.update(row["fallbacks"])
    if fallbacks:
        print("fallbacks:", *(f"{op} x{n}" for op, n in fallbacks.most_common(40)))
