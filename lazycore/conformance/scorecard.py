"""A report as a page that needs nothing but itself."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import jinja2
from lazycore_plugin_api.opset import FAMILIES

from lazycore.conformance.case import VENDOR
from lazycore.conformance.document import changes

__all__ = ["as_page", "by_family", "in_order"]

_ORDER = (
    "float32", "float64", "float16", "bfloat16", "int64", "int32", "int16", "int8", "uint8", "bool", "complex64",
    "complex128",
)  # fmt: skip
_MANY = 40


def as_page(document: Mapping[str, Any], earlier: Mapping[str, Any] | None = None) -> str:
    """The score card of a report's document; with what changed since ``earlier``, where one is given."""
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("lazycore.conformance"), autoescape=True, undefined=jinja2.StrictUndefined,
        trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip
    cases = document["cases"]
    return environment.get_template("scorecard.html.j2").render(
        report=document,
        families=by_family(document["matrix"]),
        dtypes=in_order({dtype for row in document["matrix"].values() for dtype in row}),
        bad=[case for case in cases if case["status"] in ("failed", "xpassed")],
        own=[case for case in cases if case["id"].startswith(f"{VENDOR}/")],
        reasons=_reasons(cases),
        slow=sorted(cases, key=lambda case: -case["seconds"])[:15],
        rows=[[c["id"], c["level"], c["status"], c["seconds"], c["message"].partition("\n")[0][:300]] for c in cases],
        changes=None if earlier is None else changes(earlier, document),
        earlier=earlier,
        many=_MANY,
    )


def in_order(dtypes: set[str]) -> list[str]:
    """The usual ones first."""
    return [d for d in _ORDER if d in dtypes] + sorted(dtypes - set(_ORDER))


def by_family(matrix: Mapping[str, Mapping[str, str]]) -> list[tuple[str, Counter[str], dict[str, Mapping[str, str]]]]:
    """Name, how many ``op dtype`` pairs are in which state, and rows of each family of the opset that has any."""
    found = []
    left = dict(matrix)
    for name, members in FAMILIES.items():
        rows = {row.name: left.pop(row.name) for row in members if row.name in left}
        found.append((name, rows))
    found.append(("Others", left))
    return [(name, Counter(s for row in rows.values() for s in row.values()), rows) for name, rows in found if rows]


def _reasons(cases: Sequence[Mapping[str, Any]]) -> list[tuple[str, str, int]]:
    """Why cases were skipped, or found no operator that the backend takes: status, reason, how many."""
    wanted = ("skipped", "unclaimed")
    found = Counter((c["status"], c["message"].partition("\n")[0][:160]) for c in cases if c["status"] in wanted)
    return [(status, reason, count) for (status, reason), count in found.most_common(_MANY)]
