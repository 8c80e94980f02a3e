"""``docs/speed.md`` and its plots, from the results that are checked in."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from bench.parts import PARTS
from bench.plots import plot
from bench.results_file import read
from bench.tables import cells, measured
from bench.targets import verdicts
from bench.ways import WAYS

__all__ = ["write_page"]

DOCS = Path(__file__).parents[1] / "docs"


def write_page() -> Path:
    """Write the page and its plots; the page's path."""
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent / "templates"),
        undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True,
    )  # fmt: skip
    sections = [section for name in PARTS if (section := _section(name))]
    path = DOCS / "speed.md"
    path.write_text(environment.get_template("speed.md.j2").render(sections=sections, ways=WAYS))
    return path


def _section(name: str) -> dict[str, Any] | None:
    result = read(name)
    if result is None:
        return None
    rows = result["rows"]
    tables = [_table(name, rows, what) for what in measured(rows)]
    return {"name": name, "part": PARTS[name], "machine": result["machine"], "tables": tables,
            "verdicts": verdicts(name, rows)}  # fmt: skip


def _table(name: str, rows: list[dict[str, Any]], what: str) -> dict[str, Any]:
    headings, lines = cells(rows, what)
    picture = f"speed/{name}-{re.sub('[^a-z0-9]+', '-', what.lower())}.svg"
    (DOCS / picture).parent.mkdir(exist_ok=True)
    plot(rows, what, DOCS / picture)
    return {"what": what, "headings": headings, "lines": lines, "picture": picture}
