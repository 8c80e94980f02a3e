"""Where a loop without a natural barrier begins anew: there its trace ends, so that every round is the same trace.

A call site is an operator and the line that asked for it. A program goes in circles where the sites since some point
came twice in the same order; what is recorded next is then the loop's head, unless the circle began elsewhere.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Any, TypeAlias

from lazycore.trace.node import Node

__all__ = ["Circles"]

Site: TypeAlias = tuple[Any, Any]

# Loops known at a time; each costs one entry.
_KEPT = 4096


class Circles:
    """The loops that were found, each as the step from its last call site to its first."""

    def __init__(self) -> None:
        self._closings: OrderedDict[tuple[Site, Site], None] = OrderedDict()

    def closes(self, parent: Node, child: Node) -> bool:
        """Whether recording ``child`` after ``parent`` begins a loop's next round."""
        if child.source is None:
            return False
        closing = (_site(parent), _site(child))
        if closing in self._closings:
            return True
        if not heads_a_loop([_site(node) for node in parent.path()], closing[1]):
            return False
        self._closings[closing] = None
        if len(self._closings) > _KEPT:
            self._closings.popitem(last=False)
        return True


def _site(node: Node) -> Site:
    return node.key[0], node.source


def heads_a_loop(sites: list[Site], following: Site) -> bool:
    """Whether ``sites`` ends in two or more equal rounds of a loop whose first site is ``following``, and the loop is
    half of what there is: a shorter stretch may be a loop inside the one that matters."""
    end = len(sites)
    for length in range(end // 2, 0, -1):
        if sites[end - length] == following and sites[end - length :] == sites[end - 2 * length : end - length]:
            before = _matches_before(sites, length)
            return before % length == 0 and 2 * (2 * length + before) >= end
    return False


def _matches_before(sites: list[Site], length: int) -> int:
    """How many sites before the last two rounds go on with the same period."""
    position = len(sites) - 2 * length - 1
    count = 0
    while position >= 0 and sites[position] == sites[position + length]:
        position -= 1
        count += 1
    return count
