"""Rows as tables: one for each thing that was measured, with lazycore's value as a multiple of each other's."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rich.table import Table

from bench.ways import LAZYCORE

__all__ = ["cells", "measured", "ratios", "terminal_tables"]


def measured(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """What the rows measure, in order of appearance."""
    return list(dict.fromkeys(k for row in rows for k, v in row.items() if _is_measurement(v)))


def _is_measurement(value: Any) -> bool:
    return isinstance(value, Mapping) and isinstance(value.get(LAZYCORE), (int, float))


def ratios(row: Mapping[str, Any], what: str) -> dict[str, float]:
    """lazycore's value over each other way's, by way."""
    values = row.get(what) or {}
    own = values.get(LAZYCORE)
    return {w: own / v for w, v in values.items() if w != LAZYCORE and v and own is not None}


def cells(rows: Sequence[Mapping[str, Any]], what: str) -> tuple[list[str], list[list[str]]]:
    """Headings and lines of text of the table of one measurement. Behind another way's value stands in brackets how
    many times that lazycore takes."""
    rows = [row for row in rows if what in row]
    ways = list(dict.fromkeys(way for row in rows for way in row[what]))
    return ["program", *ways], [[row["program"], *(_cell(row, what, way) for way in ways)] for row in rows]


def _cell(row: Mapping[str, Any], what: str, way: str) -> str:
    value = row[what].get(way)
    if value is None:
        return ""
    text = f"{value:.3g}" if value < 100 else f"{value:.0f}"
    times = ratios(row, what).get(way)
    return text if times is None else f"{text} ({times:.2f}x)"


def terminal_tables(rows: Sequence[Mapping[str, Any]]) -> Iterable[Table]:
    """A table for the terminal for each measurement."""
    for what in measured(rows):
        headings, lines = cells(rows, what)
        table = Table(title=f"{what} (in brackets: how many times that lazycore takes)")
        for heading in headings:
            table.add_column(heading, justify="left" if heading == "program" else "right")
        for line in lines:
            table.add_row(*line)
        yield table
