"""The lowering table: op name -> jax function. It is also the capability table, so the two cannot disagree."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from lazycore_plugin_api import DType, Node, Value

__all__ = [
    "ANY", "CHANNELS_LAST", "COMPLEX", "FLOATING", "INEXACT", "INTEGRAL", "NUMERIC", "REAL", "TABLE", "ChannelsLast",
    "Check", "Lowering", "lowering", "register", "register_all",
]  # fmt: skip

FLOATING = frozenset({DType.float64, DType.float32, DType.float16, DType.bfloat16})
INTEGRAL = frozenset(d for d in DType if d.is_integral)
REAL = FLOATING | INTEGRAL | {DType.bool}
COMPLEX = frozenset({DType.complex64, DType.complex128})
INEXACT = FLOATING | COMPLEX
NUMERIC = REAL | COMPLEX
ANY = frozenset(DType)

Function: TypeAlias = Callable[..., Any]
Check: TypeAlias = Callable[[Node], str | None]
"""Looks at a node's arguments; a text says why the lowering does not take it."""


@dataclass(frozen=True)
class Lowering:
    """One row. ``function`` gets the node's arguments: values as jax arrays, dtypes as NumPy's, all else as it is.

    ``needs_out``: it also gets the outputs' specs as the keyword ``out``. ``widen``: float16 and bfloat16 operands
    arrive as float32, and the results are rounded once. ``dtypes``: what operands and results may be. ``platforms``:
    the only ones for which jax has what the function calls; None are all.
    """

    function: Function
    needs_out: bool = False
    widen: bool = False
    dtypes: frozenset[DType] = REAL
    check: Check | None = None
    platforms: frozenset[str] | None = None


TABLE: dict[str, Lowering] = {}


@dataclass(frozen=True)
class ChannelsLast:
    """How a row is computed for images whose channels are the last dimension, which is how XLA convolves on a CPU.

    ``function``: None for the row's own, which does not care. ``operands``: the positions of the arguments that are
    images; None for every tensor that is not 0-d. ``leads``: it is worth transposing the operands for. The first result
    is an image, with its channels last; the others are as ever.
    """

    function: Function | None = None
    operands: tuple[int, ...] | None = None
    leads: bool = False

    def images(self, node: Node) -> list[Value]:
        """The node's operands that are images."""
        if self.operands is not None:
            return [v for p in self.operands if isinstance(v := node.args[p], Value)]
        return [v for v in node.inputs() if v.spec.shape]

    def takes_image(self, position: int) -> bool:
        """Whether the argument there is an image if it is a tensor at all, and not a 0-d one."""
        return self.operands is None or position in self.operands


CHANNELS_LAST: dict[str, ChannelsLast] = {}
"""Beside ``TABLE``, by op: the rows that have such a function."""


def register(op: str, row: Lowering) -> None:
    """Add a row. Raises ValueError for a second one of the same op."""
    if op in TABLE:
        raise ValueError(f"{op} has two lowerings")
    TABLE[op] = row


def register_all(functions: Mapping[str, Function], **columns: Any) -> None:
    """Add one row per function, with the same other columns."""
    for op, function in functions.items():
        register(op, Lowering(function, **columns))


def lowering(*ops: str, **columns: Any) -> Callable[[Function], Function]:
    """Decorator: the function is the lowering of these ops; ``columns`` are Lowering's other fields."""

    def add(function: Function) -> Function:
        for op in ops:
            register(op, Lowering(function, **columns))
        return function

    return add
