"""The lowering table: op name -> how it is computed. It is also the capability table, so the two cannot disagree."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Any, TypeAlias, TypeVar

from lazycore_plugin_api import DType, Node

__all__ = ["ANY", "BOOL", "FLOATS", "INTS", "REAL", "TABLE", "Check", "Kind", "Lowering", "lowering"]

FLOATS = frozenset({DType.float64, DType.float32, DType.float16, DType.bfloat16})
INTS = frozenset({DType.int64, DType.int32, DType.int16, DType.int8, DType.uint8})
BOOL = frozenset({DType.bool})
REAL = FLOATS | INTS | BOOL
ANY = REAL | {DType.uint32}

Check: TypeAlias = Callable[[Node], str | None]
"""Looks at a node's arguments; a text says why the lowering does not take it."""
_F = TypeVar("_F", bound=Callable[..., Any])


class Kind(Enum):
    """``elements``: one expression per element, fused into its reader. ``view``: the same, and costs nothing.
    ``kernel``: a kernel of its own, e.g. a reduction. ``host``: a function on NumPy arrays, called from the program.
    """

    elements = "elements"
    view = "view"
    kernel = "kernel"
    host = "host"


@dataclass(frozen=True)
class Lowering:
    """One row. ``function`` gets the node's arguments, with arrays of expressions (or NumPy's) in place of values.

    ``needs_out``: it also gets the outputs' specs as the keyword ``out``. ``rereads``: it reads operands more than
    once, so that they are computed before. ``raw``: elements are only moved; 16-bit floats of a host function arrive
    as they are. ``wraps``: whole numbers may wrap around, and what follows must not be fused, since TVM and LLVM hold
    that ``x + 1 > x``. ``divides``: it makes positions by division, or hides that its operands do. ``empty``: operands
    may be empty where the result is not. ``fills``: a host function may also get the array of its one result, as the
    keyword ``out``, and then returns that. ``dtypes``: what operands and results may be.
    """

    function: Callable[..., Any]
    kind: Kind
    dtypes: frozenset[DType] = REAL
    needs_out: bool = False
    rereads: bool = False
    raw: bool = False
    wraps: bool = False
    divides: bool = False
    empty: bool = False
    fills: bool = False
    check: Check | None = None


TABLE: dict[str, Lowering] = {}


def lowering(*ops: str, kind: Kind = Kind.elements, **columns: Any) -> Callable[[_F], _F]:
    """Decorator: the function is the lowering of these ops. Raises ValueError for a second row of the same op."""

    def add(function: _F) -> _F:
        for op in ops:
            name = op if op.startswith("lazycore.") else f"aten.{op}" if "." in op else f"aten.{op}.default"
            if name in TABLE:
                raise ValueError(f"{name} has two lowerings")
            TABLE[name] = Lowering(function, kind, **columns)
        return function

    return add
