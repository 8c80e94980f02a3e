"""Why a trace left the known paths: the op, operand and line that differ."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any

from lazycore_plugin_api import Source

from lazycore.trace.call import Operand
from lazycore.trace.keys import DYNAMIC, FLOAT, INT, LIFTED_FLOAT, LIFTED_INT, VIEW, WRAPS
from lazycore.trace.layout import Layout
from lazycore.trace.node import Node

__all__ = ["Divergence", "Kind", "explain", "variants"]


class Kind(Enum):
    """What two traces differ in: another operator, an operand's shape (or its view's), its dtype, which value it is, or
    a number."""

    op = "op"
    shape = "shape"
    dtype = "dtype"
    operand = "operand"
    number = "number"


@dataclass(frozen=True)
class Divergence:
    """At ``source``, after ``depth`` known ops, ``op`` was recorded; ``difference`` from the nearest known trace, and
    ``kind``, what it is a difference of."""

    op: str
    operand: str | None
    source: Source | None
    depth: int
    difference: str
    kind: Kind

    def __str__(self) -> str:
        operand = f", operand {self.operand}" if self.operand else ""
        return f"{self.op}{operand} at {self.source} (after {self.depth} known ops): {self.difference}"


def explain(parent: Node, child: Node) -> Divergence:
    """Compare a new child with the sibling that is most like it: the last one of the same op, else the last one."""
    siblings = list(parent.children.values())
    same = [s for s in siblings if s.key[0] == child.key[0]]
    if not same:
        known = siblings[-1]
        text = f"known traces go on with {known.op} at {known.source}"
        return Divergence(child.op, None, child.source, parent.depth, text, Kind.op)
    operand, text, kind = _first_difference(same[-1].key, child)
    return Divergence(child.op, operand, child.source, parent.depth, text, kind)


def variants(parent: Node, child: Node) -> int:
    """How many programs the call at this place has led to: ``child`` and the siblings of the same op and line."""
    place = child.key[0], child.source
    return len({id(s) for s in (*parent.children.values(), child) if (s.key[0], s.source) == place})


def _first_difference(known: Any, child: Node) -> tuple[str | None, str, Kind]:
    for position, (old, new) in enumerate(zip(known[1:], child.key[1:], strict=False)):
        if old != new:
            name = child.names[position] if position < len(child.names) else str(position)
            tensors = _takes_tensors(child, position)
            text = f"{describe(new, tensors)} where {describe(old, tensors)} is known"
            return name, text, _kind(old, new, tensors)
    return None, "another number of operands", Kind.operand


def _takes_tensors(child: Node, position: int) -> bool:
    """Whether integers among the key's items are values of the trace there, and not numbers of the call."""
    if child.compound is not None:
        return position in child.compound.tensors
    arguments = [*child.calls[0].args, *child.calls[0].kwargs.values()] if child.calls else []
    if position >= len(arguments):
        return True
    argument = arguments[position]
    if isinstance(argument, tuple):
        return any(isinstance(item, Operand) for item in argument)
    return argument is None or isinstance(argument, Operand)


def _kind(old: Any, new: Any, tensors: bool) -> Kind:
    if tensors and _is_list(old) and _is_list(new):
        pairs = [(a, b) for a, b in zip(old, new, strict=False) if a != b]
        return _kind(*pairs[0], tensors) if pairs and len(old) == len(new) else Kind.operand
    layouts = [item[1] if isinstance(item, tuple) and item and item[0] is VIEW else item for item in (old, new)]
    if tensors and layouts[0] == layouts[1]:
        return Kind.shape
    if all(isinstance(item, Layout) for item in layouts):
        return Kind.shape if layouts[0].dtype == layouts[1].dtype else Kind.dtype
    if any(isinstance(item, Layout) or (tensors and type(item) is int) for item in layouts):
        return Kind.operand
    return Kind.number


def _is_list(item: Any) -> bool:
    return isinstance(item, tuple) and not (item and (item[0] in (VIEW, FLOAT, INT) or isinstance(item[0], type)))


def describe(item: Any, tensors: bool = True) -> str:
    """A key's item in words; ``tensors``: integers in it number the trace's values."""
    if isinstance(item, Layout):
        return f"a new {item}"
    if item in (LIFTED_FLOAT, LIFTED_INT, DYNAMIC, WRAPS):
        return "a varying number"
    if isinstance(item, tuple) and item:
        if item[0] is VIEW:
            return f"a view size {item[2]} stride {item[3]} offset {item[4]} of {describe(item[1])}"
        if item[0] in (FLOAT, INT) or isinstance(item[0], type):
            return repr(item[1])
        return "[" + ", ".join(describe(i, tensors) for i in item) + "]"
    return f"value {item}" if tensors and type(item) is int else repr(item)
