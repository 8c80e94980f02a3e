"""The checked-in table of what each program costs: ops recorded, and segments compiled by backend."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

__all__ = ["check", "update"]

TABLE = Path(__file__).parents[1] / "expected_counts.json"


def _read() -> dict[str, dict[str, int]]:
    return json.loads(TABLE.read_text()) if TABLE.exists() else {}  # type: ignore[no-any-return]


def check(program: str, counted: Mapping[str, int]) -> None:
    """Fail where a program costs more than the table says, or is not in it."""
    expected = _read().get(program, {})
    for name, count in counted.items():
        assert name in expected, f"{program} has no {name} in {TABLE.name}: run pytest --update-counts once"
        assert count <= expected[name], (
            f"{program}: {name} grew from {expected[name]} to {count}; if that is meant, run pytest --update-counts"
        )


def update(program: str, counted: Mapping[str, int]) -> None:
    """Write a program's counts into the table. Not for several workers at once."""
    table = _read()
    table[program] = dict(sorted({**table.get(program, {}), **counted}.items()))
    rows = ",\n".join(f"  {json.dumps(name)}: {json.dumps(row)}" for name, row in sorted(table.items()))
    TABLE.write_text(f"{{\n{rows}\n}}\n")
