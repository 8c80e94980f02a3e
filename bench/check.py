"""Regressions: a ratio of lazycore to another way that is worse than the checked-in one.

Both sides of a ratio were measured in one run, so that another machine's speed cancels, and much of its load does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bench.tables import measured, ratios
from bench.ways import LAZYCORE

__all__ = ["Regression", "better", "regressions"]

Rows = Sequence[Mapping[str, Any]]


@dataclass(frozen=True)
class Regression:
    """lazycore took ``before`` times what the ``way`` takes, and takes ``now`` times that."""

    program: str
    what: str
    way: str
    before: float
    now: float

    def __str__(self) -> str:
        return f"{self.program}, {self.what}: {self.now:.2f}x {self.way}, was {self.before:.2f}x"


def regressions(stored: Rows, measured_now: Rows, tolerance: float) -> list[Regression]:
    """Every ratio that grew to more than ``tolerance`` times the stored one. What only one side has is no matter."""
    before, now = _ratios(stored), _ratios(measured_now)
    return [Regression(*key, before[key], now[key]) for key in before if now.get(key, 0) > before[key] * tolerance]


def better(first: Sequence[Regression], second: Sequence[Regression]) -> list[Regression]:
    """What regressed in both of two measurements, by the lower of the two ratios: noise is no regression."""
    again = {(r.program, r.what, r.way): r for r in second}
    pairs = [(r, again.get((r.program, r.what, r.way))) for r in first]
    return [min((a, b), key=lambda r: r.now) for a, b in pairs if b is not None]


def _ratios(rows: Rows) -> dict[tuple[str, str, str], float]:
    return {
        (row["program"], what, way): times
        for what in measured(rows)
        for row in rows
        for way, times in ratios(row, what).items()
        if not way.startswith(LAZYCORE)
    }
