"""Literals of a graph: values that are known without running anything, and when an argument is the one wanted."""

from __future__ import annotations

from lazycore_plugin_api import Argument, Node, Value

__all__ = ["Number", "is_wanted", "number_of"]

Number = bool | int | float | complex

_FILL = {"aten.scalar_tensor.default": 0, "aten.full.default": 1}
"""Op -> position of the number that all of its result's elements are."""


def number_of(node: Node) -> Number | None:
    """The number that all elements of the node's result are, None where that is not written in the graph."""
    position = _FILL.get(node.op)
    number = None if position is None else node.args[position]
    return number if isinstance(number, (bool, int, float, complex)) else None


def is_wanted(argument: Argument, wanted: object) -> bool:
    """Whether a node's argument is what a pattern asks for: the same literal, or a predicate that it fulfils."""
    if callable(wanted):
        return bool(wanted(argument))
    if isinstance(argument, Value) or isinstance(argument, bool) != isinstance(wanted, bool):
        return False
    if isinstance(argument, tuple) and isinstance(wanted, (tuple, list)):
        return len(argument) == len(wanted) and all(map(is_wanted, argument, wanted))
    return bool(argument == wanted)
