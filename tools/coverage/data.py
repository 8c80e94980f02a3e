"""The measured coverage of a backend, as ``docs/coverage`` keeps it: one JSON file, one line per operator."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

from tools.coverage.marks import Cell, cells_of

__all__ = ["BACKENDS", "FOLDER", "Coverage", "collect", "load", "save"]

FOLDER = Path(__file__).parents[2] / "docs" / "coverage"
BACKENDS = {"reference": ("numpy",), "xla": ("jax", "jaxlib"), "tvm": ("apache-tvm",)}
"""Backend -> the packages that its results depend on, besides torch."""


@dataclass
class Coverage:
    """One backend's. ``ops``: op -> dtype -> direction -> cell."""

    backend: str
    versions: dict[str, str] = field(default_factory=dict)
    ops: dict[str, dict[str, dict[str, Cell]]] = field(default_factory=dict)

    def cells(self, dtypes: Iterable[str], direction: str) -> list[Cell]:
        """All that there are of some dtypes and a direction."""
        every = (cells.get(dtype, {}).get(direction) for cells in self.ops.values() for dtype in dtypes)
        return [cell for cell in every if cell is not None]


def collect(known: Coverage, rows: Iterable[Mapping[str, Any]]) -> Coverage:
    """``known`` with the runner's rows in place of the cases that they are of, and this environment's versions."""
    ops = {name: dict(kinds) for name, kinds in known.ops.items()}
    for row in rows:
        cells = cells_of(row, _names(row["op"]))
        if cells:
            ops.setdefault(row["op"], {})[row["dtype"]] = cells
    versions = {package: version(package) for package in ("torch", *BACKENDS[known.backend])}
    return Coverage(known.backend, versions, ops)


def _names(op: str) -> set[str]:
    from lazycore.conformance.database.operators import database

    info = database()[op]
    given = {info.name, info.aten_name, *(alias.name for alias in info.aliases)}
    # A module's path is part of some operators' names and no part of others': special_erf, relu.
    given |= {name.rpartition(".")[2] for name in given} | {name.removesuffix(".default") for name in given}
    return given | {name.strip("_").removeprefix("r") for name in given if name.startswith("__r")}


def load(backend: str, folder: Path = FOLDER) -> Coverage:
    """What was measured, or nothing where nothing was."""
    path = folder / f"{backend}.json"
    if not path.exists():
        return Coverage(backend)
    data = json.loads(path.read_text())
    ops = {
        op: {dtype: {way: _read(cell) for way, cell in ways.items()} for dtype, ways in kinds.items()}
        for op, kinds in data["ops"].items()
    }
    return Coverage(backend, data["versions"], ops)


def save(coverage: Coverage, folder: Path = FOLDER) -> None:
    """Write it, sorted, so that two runs differ where their results do."""
    lines = [f"{json.dumps(op)}: {_line(coverage.ops[op])}" for op in sorted(coverage.ops)]
    text = ",\n".join(lines)
    path = folder / f"{coverage.backend}.json"
    path.write_text(f'{{"versions": {json.dumps(coverage.versions)},\n"ops": {{\n{text}\n}}}}\n')


def _line(kinds: Mapping[str, Mapping[str, Cell]]) -> str:
    written = {dtype: {way: _written(cell) for way, cell in kinds[dtype].items()} for dtype in sorted(kinds)}
    return json.dumps(written, separators=(",", ":"))


def _written(cell: Cell) -> list[Any]:
    numbers: list[Any] = [cell.tried, cell.right, cell.native, int(cell.own)]
    return [*numbers, dict(sorted(cell.eager.items()))] if cell.eager else numbers


def _read(values: list[Any]) -> Cell:
    tried, right, native, own, *eager = values
    return Cell(tried, right, native, bool(own), eager[0] if eager else {})
