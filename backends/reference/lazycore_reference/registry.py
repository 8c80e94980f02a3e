"""The lowering table, which is the capability table: what it lists is supported, nothing else is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar

import numpy as np
from lazycore_plugin_api import Decision, Dim, DType, Node, Rejected, Supported

from lazycore_reference.complex_ops import COMPLEX

__all__ = ["Array", "DTYPES", "Entry", "Function", "decide", "find", "lowering", "operators"]

Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]
Function: TypeAlias = Callable[..., Any]
Predicate: TypeAlias = Callable[[Node], str | None]
_F = TypeVar("_F", bound=Function)

# NumPy and ml_dtypes do not reckon with half a complex number as PyTorch does.
DTYPES = frozenset(DType) - {DType.complex32}


@dataclass(frozen=True)
class Entry:
    """A row of the table.

    ``function`` takes the node's arguments with arrays in place of values and returns an array, or a tuple of arrays
    and Nones (an output that was not asked for). Its results are cast to the declared dtypes by the caller. ``raw``:
    it wants 16- and 8-bit floats as they are, not widened to float32. ``specs``: it also takes the outputs' specs, as
    the keyword ``specs``. ``objection`` says why a node is not taken, or None.
    """

    op: str
    function: Function
    raw: bool = False
    specs: bool = False
    objection: Predicate | None = None


_TABLE: dict[str, Entry] = {}


def lowering(
    *ops: str, raw: bool = False, specs: bool = False, objection: Predicate | None = None
) -> Callable[[_F], _F]:
    """Enter a function into the table under each of the op names. Raises ValueError for a name already taken."""

    def enter(function: _F) -> _F:
        for op in ops:
            if op in _TABLE:
                raise ValueError(f"{op} has two lowerings")
            _TABLE[op] = Entry(op, function, raw, specs, objection)
        return function

    return enter


def find(op: str) -> Entry:
    """The row of an op. Raises KeyError where there is none."""
    return _TABLE[op]


def operators() -> frozenset[str]:
    """The names of all ops in the table."""
    return frozenset(_TABLE)


def decide(node: Node) -> Decision:
    """Supported where the table has the op, it is right for the dtypes, and the row has no objection."""
    entry = _TABLE.get(node.op)
    if entry is None:
        return Rejected("op", f"the reference backend has no lowering of {node.op}")
    values = (*node.inputs(), *node.outputs)
    if not entry.raw and node.op not in COMPLEX and any(v.spec.dtype.is_complex for v in values):
        return Rejected("dtype", f"the reference backend does not compute {node.op} of complex numbers")
    # What is compiled for all sizes was decided for some of them before, and NumPy minds no size.
    varies = any(isinstance(size, Dim) for v in values for size in v.spec.shape)
    reason = entry.objection(node) if entry.objection and not varies else None
    return Rejected("attribute", reason) if reason else Supported()
