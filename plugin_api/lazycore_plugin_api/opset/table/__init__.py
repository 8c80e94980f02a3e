"""The table: one row per overload, by family."""

from __future__ import annotations

from lazycore_plugin_api.opset.row import OpRow
from lazycore_plugin_api.opset.table.activation import ACTIVATION
from lazycore_plugin_api.opset.table.binary import BINARY
from lazycore_plugin_api.opset.table.indexing import INDEXING
from lazycore_plugin_api.opset.table.linear import LINEAR
from lazycore_plugin_api.opset.table.network import NETWORK
from lazycore_plugin_api.opset.table.reduction import REDUCTION
from lazycore_plugin_api.opset.table.shape import SHAPE
from lazycore_plugin_api.opset.table.unary import UNARY

__all__ = ["FAMILIES", "OPSET"]

FAMILIES: dict[str, list[OpRow]] = {
    "Elementwise, one operand": UNARY,
    "Elementwise, several operands": BINARY,
    "Activations": ACTIVATION,
    "Reductions, scans, sorting": REDUCTION,
    "Shapes and factories": SHAPE,
    "Indexing": INDEXING,
    "Linear algebra and Fourier transforms": LINEAR,
    "Networks": NETWORK,
}

OPSET: dict[str, OpRow] = {row.name: row for rows in FAMILIES.values() for row in rows}
