"""A report as a page that needs nothing but itself."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import jinja2

from lazycore.conformance.document import changes

__all__ = ["as_page"]

_ORDER = (
    "float32", "float64", "float16", "bfloat16", "int64", "int32", "int16", "int8", "uint8", "bool", "complex64",
    "complex128",
)  # fmt: skip


def as_page(document: Mapping[str, Any], earlier: Mapping[str, Any] | None = None) -> str:
    """The score card of a report's document; with what changed since ``earlier``, where one is given."""
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("lazycore.conformance"), autoescape=True, undefined=jinja2.StrictUndefined
    )
    dtypes = {dtype for row in document["matrix"].values() for dtype in row}
    return environment.get_template("scorecard.html.j2").render(
        report=document,
        dtypes=[d for d in _ORDER if d in dtypes] + sorted(dtypes - set(_ORDER)),
        bad=[case for case in document["cases"] if case["status"] in ("failed", "xpassed")],
        slow=sorted(document["cases"], key=lambda case: -case["seconds"])[:15],
        changes=None if earlier is None else changes(earlier, document),
        earlier=earlier,
    )
