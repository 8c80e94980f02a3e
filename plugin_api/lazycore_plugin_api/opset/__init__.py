"""What the core knows of an operator beyond its schema: promotion, literals that may vary, index operands.

An op without a row is recorded and compiled all the same: its operands keep their dtypes and its literals are exact.
"""

from __future__ import annotations

from lazycore_plugin_api.opset.row import IndexOperand, OpRow, Promotion
from lazycore_plugin_api.opset.table import OPSET

__all__ = ["OPSET", "IndexOperand", "OpRow", "Promotion", "row_of"]

_NONE = OpRow("")


def row_of(name: str) -> OpRow:
    """The row of an overload (``aten.add.Tensor``), or one that knows nothing."""
    return OPSET.get(name, _NONE)
