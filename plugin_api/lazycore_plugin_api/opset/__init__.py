"""The operators of the IR as a table: what each takes, what it yields, and what the core must know of it.

An op without a row is recorded, compiled and run all the same: its operands keep their dtypes, its literals are exact
and its nodes are not checked.
"""

from __future__ import annotations

from lazycore_plugin_api.opset.inference import infer
from lazycore_plugin_api.opset.kinds import Kind
from lazycore_plugin_api.opset.row import IndexOperand, OpRow, Promotion
from lazycore_plugin_api.opset.rule import Call, Rule
from lazycore_plugin_api.opset.schema import Parameter, Schema
from lazycore_plugin_api.opset.table import FAMILIES, OPSET

__all__ = [
    "FAMILIES", "OPSET", "Call", "IndexOperand", "Kind", "OpRow", "Parameter", "Promotion", "Rule", "Schema", "infer",
    "row_of",
]  # fmt: skip

_NONE = OpRow("")


def row_of(name: str) -> OpRow:
    """The row of an overload (``aten.add.Tensor``), or one that knows nothing."""
    return OPSET.get(name, _NONE)
