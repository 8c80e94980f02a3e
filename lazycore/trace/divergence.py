"""Why a trace left the known paths: the op, operand and line that differ."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from lazycore_plugin_api import Source

from lazycore.trace.keys import DYNAMIC, FLOAT, INT, LIFTED_FLOAT, LIFTED_INT, VIEW, WRAPS
from lazycore.trace.layout import Layout
from lazycore.trace.node import Node

__all__ = ["Divergence", "explain"]


@dataclass(frozen=True)
class Divergence:
    """At ``source``, after ``depth`` known ops, ``op`` was recorded; ``difference`` from the nearest known trace."""

    op: str
    operand: str | None
    source: Source | None
    depth: int
    difference: str

    def __str__(self) -> str:
        operand = f", operand {self.operand}" if self.operand else ""
        return f"{self.op}{operand} at {self.source} (after {self.depth} known ops): {self.difference}"


def explain(parent: Node, child: Node) -> Divergence:
    """Compare a new child with the sibling that is most like it: the last one of the same op, else the last one."""
    siblings = list(parent.children.values())
    same = [s for s in siblings if s.key[0] == child.key[0]]
    op = child.calls[0].op if child.calls else "?"
    if not same:
        known = siblings[-1]
        before = known.calls[0].op if known.calls else "?"
        return Divergence(op, None, child.source, parent.depth, f"known traces go on with {before} at {known.source}")
    operand, difference = _first_difference(same[-1].key, child)
    return Divergence(op, operand, child.source, parent.depth, difference)


def _first_difference(known: Any, child: Node) -> tuple[str | None, str]:
    for position, (old, new) in enumerate(zip(known[1:], child.key[1:], strict=False)):
        if old != new:
            name = child.names[position] if position < len(child.names) else str(position)
            return name, f"{describe(new)} where {describe(old)} is known"
    return None, "another number of operands"


def describe(item: Any) -> str:
    """A key's item in words."""
    if isinstance(item, Layout):
        return f"a new {item}"
    if item in (LIFTED_FLOAT, LIFTED_INT, DYNAMIC, WRAPS):
        return "a varying number"
    if isinstance(item, tuple) and item:
        if item[0] is VIEW:
            return f"a view size {item[2]} stride {item[3]} offset {item[4]} of {describe(item[1])}"
        if item[0] in (FLOAT, INT) or isinstance(item[0], type):
            return repr(item[1])
        return "[" + ", ".join(map(describe, item)) + "]"
    return f"value {item}" if type(item) is int else repr(item)
