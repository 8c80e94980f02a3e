"""A row of the opset."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from functools import cached_property

from lazycore_plugin_api.dtypes import DType
from lazycore_plugin_api.opset.rule import Rule, Sizes
from lazycore_plugin_api.opset.schema import Schema, parse

__all__ = ["IndexOperand", "OpRow", "Promotion"]


class Promotion(Enum):
    """How an elementwise op finds the dtype it computes in (torch's type promotion with its dimension categories).

    ``common``: the promoted dtype of the operands; ``floating``: the same, integers and bools becoming the default
    float dtype; ``quotient``: ``common`` where a ``rounding_mode`` is given, else ``floating``; ``none``: operands keep
    their dtypes.
    """

    none = "none"
    common = "common"
    floating = "floating"
    quotient = "quotient"


@dataclass(frozen=True)
class IndexOperand:
    """Argument ``argument`` holds positions along ``dim`` of argument ``of``.

    ``dim``: a dimension, or the name of the argument that holds it, or ``each`` where the argument is a list with one
    index per dimension, or ``flat`` for row-major positions. ``negative``: counting from the end is allowed.
    """

    argument: str
    of: str
    dim: int | str
    negative: bool = False


@dataclass(frozen=True)
class OpRow:
    """One operator. ``signature``: its schema as text, without what never appears in the IR. ``dtype`` and ``shape``
    say what it yields; None says nothing. ``operands``: the arguments that take part in promotion (empty: every
    tensor). ``lift``: the arguments whose numbers may become run-time inputs, because no shape or dtype depends on
    their values. ``note``: where its semantics are easily got wrong."""

    name: str
    promotion: Promotion = Promotion.none
    operands: tuple[str, ...] = ()
    lift: tuple[str, ...] = ()
    index: tuple[IndexOperand, ...] = ()
    signature: str = ""
    dtype: Rule[DType] | None = None
    shape: Rule[Sizes] | None = None
    note: str = ""

    @cached_property
    def schema(self) -> Schema | None:
        """The signature, read; None where the row has none."""
        return parse(self.signature) if self.signature else None
