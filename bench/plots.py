"""Measurements as bar charts in SVG."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import matplotlib

from bench.ways import LAZYCORE

__all__ = ["plot"]

matplotlib.use("svg")
# Text as text, and nothing that differs from one drawing of the same figures to the next.
matplotlib.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "lazycore", "font.size": 9})
_COLORS = {LAZYCORE: "#d1495b"}
_OTHERS = ("#30638e", "#00798c", "#edae49", "#8d96a3", "#66a182", "#b8c4d0")


def plot(rows: Sequence[Mapping[str, Any]], what: str, path: Path) -> None:
    """Draw one measurement: a group of bars for each program, a bar for each way."""
    from matplotlib import pyplot

    rows = [row for row in rows if what in row]
    ways = list(dict.fromkeys(way for row in rows for way in row[what]))
    colors = dict(zip((w for w in ways if w != LAZYCORE), _OTHERS, strict=False)) | _COLORS
    figure, axes = pyplot.subplots(figsize=(7, 0.6 + 0.17 * sum(len(row[what]) + 1 for row in rows)))
    for position, row in enumerate(rows):
        for way, value, place, height in _bars(row[what], ways, position):
            axes.barh(place, value, height, color=colors[way], label=way if way not in _named(axes) else None)
    axes.set_yticks(range(len(rows)), [row["program"] for row in rows])
    axes.invert_yaxis()
    axes.set_xscale("log")
    axes.set_xlabel(f"{what} (less is better)")
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, loc="upper left", bbox_to_anchor=(1, 1))
    figure.savefig(path, bbox_inches="tight", metadata={"Date": None})
    pyplot.close(figure)


def _bars(values: Mapping[str, float], ways: Sequence[str], position: int) -> list[tuple[str, float, float, float]]:
    """(way, value, place, height) of a group's bars."""
    present = [way for way in ways if way in values]
    height = 0.8 / len(present)
    return [(w, values[w], position - 0.4 + (i + 0.5) * height, height) for i, w in enumerate(present)]


def _named(axes: Any) -> list[str]:
    return axes.get_legend_handles_labels()[1]
