"""How an operator ran on a backend, in one letter: the classification of a row of ``tests.opinfo.runner``."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

__all__ = ["MARKS", "Cell", "cells_of", "worst"]

MARKS = {
    "n": "native: all samples ran on the backend, by a lowering of the operator itself",
    "d": "decomposed: all samples ran on the backend, by lowerings of the operators that it is made of",
    "f": "fallback: some sample was run in part by PyTorch on the CPU",
    "u": "unsupported: some sample was refused, or its result was not the CPU's",
}
_ORDER = " ndfu"


@dataclass(frozen=True)
class Cell:
    """An operator's forward or backward passes in one dtype: samples that were tried, that were right, that were right
    and needed no fallback; what fell back, by how often it was executed."""

    tried: int
    right: int
    native: int
    own: bool
    eager: Mapping[str, int]

    @property
    def mark(self) -> str:
        """One of ``MARKS``."""
        if self.right < self.tried:
            return "u"
        if self.native < self.tried:
            return "f"
        return "n" if self.own else "d"


def worst(marks: Iterable[str]) -> str:
    """The one that says least for the backend."""
    return max(marks, key=_ORDER.index, default=" ")


def cells_of(row: Mapping[str, Any], names: Collection[str]) -> dict[str, Cell]:
    """Direction -> cell, where the CPU computes a sample. ``names``: what PyTorch calls the operator."""
    wrong = sum(error.startswith("backward:") for error in row["errors"])
    tried = row["phases"].get("backward", {"samples": 0})["samples"] + wrong
    cells = {"forward": _cell(row, "forward", row["samples"], names), "backward": _cell(row, "backward", tried, None)}
    return {direction: cell for direction, cell in cells.items() if cell.tried}


def _cell(row: Mapping[str, Any], direction: str, tried: int, names: Collection[str] | None) -> Cell:
    phase = row["phases"].get(direction)
    if phase is None:
        return Cell(tried, 0, 0, False, {})
    # Gradients are formulas of many operators, none of which is the one; that nothing was decomposed is what counts.
    own = not phase["decomposed"] and (names is None or _is_own(phase["ran"], names))
    return Cell(tried, phase["samples"], phase["native"], own, phase["fallbacks"])


def _is_own(ran: Collection[str], names: Collection[str]) -> bool:
    """Whether the operator is among what ran. What ran nothing is geometry: views, and results that hold no element."""
    if not ran:
        return True
    given = {_plain(name) for name in names}
    found = {_plain(op.split(".")[1]) for op in ran if op.count(".") == 2}
    return any(op == name or op.startswith(f"{name}_") for op in found for name in given)


def _plain(name: str) -> str:
    """Without the marks of internal and in-place variants: ``_softmax``, ``native_layer_norm``, ``__rsub__``."""
    name = name.replace(".", "_").strip("_")
    return name.removeprefix("native_").removeprefix("functional_")
