"""How the tables are written: a row from a signature and its columns."""

from __future__ import annotations

from lazycore_plugin_api.dtypes import DType
from lazycore_plugin_api.opset.result_dtypes import common, floating, quotient
from lazycore_plugin_api.opset.row import IndexOperand, OpRow, Promotion
from lazycore_plugin_api.opset.rule import Rule, Sizes
from lazycore_plugin_api.opset.shapes.elementwise import broadcast

__all__ = ["promoted", "row"]

_RULES = {Promotion.common: common, Promotion.floating: floating, Promotion.quotient: quotient}


def row(
    signature: str,
    dtype: Rule[DType],
    shape: Rule[Sizes],
    note: str = "",
    *,
    lift: str = "",
    index: tuple[IndexOperand, ...] = (),
    promotion: Promotion = Promotion.none,
    operands: str = "",
) -> OpRow:
    """A row; its name is ``aten.`` and what the signature begins with, unless that has a namespace of its own."""
    word = signature.partition("(")[0]
    own = word.startswith("lazycore.")
    name = word if own else f"aten.{word}" if "." in word else f"aten.{word}.default"
    return OpRow(name, promotion, tuple(operands.split()), tuple(lift.split()), index, signature, dtype, shape, note)


def promoted(
    signature: str,
    promotion: Promotion,
    note: str = "",
    *,
    operands: str = "",
    lift: str = "",
    dtype: Rule[DType] | None = None,
    shape: Rule[Sizes] | None = None,
) -> OpRow:
    """An op whose operands are promoted (every tensor, where none are named). By default they broadcast, and the result
    has the dtype that they were promoted to."""
    tensors = _tensors(signature)
    names = operands.split() or tensors
    dtype = dtype or _RULES[promotion](*names)
    shape = shape or broadcast(*dict.fromkeys([*tensors, *names]))
    return row(signature, dtype, shape, note, promotion=promotion, operands=operands, lift=lift)


def _tensors(signature: str) -> list[str]:
    inside = signature.partition("(")[2].partition(") -> ")[0]
    return [part.partition("=")[0].split()[1] for part in inside.split(", ") if part.startswith("Tensor")]
