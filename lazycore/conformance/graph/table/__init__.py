"""The table of graph cases: rows by family, looked up by op."""

from __future__ import annotations

from functools import cache

from lazycore.conformance.graph.row import Row
from lazycore.conformance.graph.table.elementwise import ELEMENTWISE
from lazycore.conformance.graph.table.gradients import GRADIENTS
from lazycore.conformance.graph.table.indexing import INDEXING
from lazycore.conformance.graph.table.linear import LINEAR
from lazycore.conformance.graph.table.network import NETWORK
from lazycore.conformance.graph.table.reductions import REDUCTIONS
from lazycore.conformance.graph.table.shapes import SHAPES

__all__ = ["rows_by_op"]


@cache
def rows_by_op() -> dict[str, list[Row]]:
    """Op -> its rows, in the table's order."""
    found: dict[str, list[Row]] = {}
    for row in (*ELEMENTWISE, *REDUCTIONS, *SHAPES, *INDEXING, *LINEAR, *NETWORK, *GRADIENTS):
        found.setdefault(row.op, []).append(row)
    return found
