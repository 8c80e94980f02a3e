"""Where a loop without a natural barrier begins anew: there its trace ends, so that every round is the same trace.

A call site is an operator and the line that asked for it. A program goes in circles where the sites since some point
came twice in the same order; what is recorded next is then the loop's head, unless the circle began elsewhere.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, TypeAlias

from lazycore.trace.node import Node

__all__ = ["Circles"]

Site: TypeAlias = tuple[Any, Any]

# Loops known at a time; each costs one entry.
_KEPT = 4096
# The part of a program's own stretch, from barrier to barrier, from which on a loop is what the stretch is about.
_DOMINANT = 0.8


class Circles:
    """The loops that were found, each as the step from its last call site to its first, with the number of sites in a
    round; 0 for a loop inside of something larger, whose rounds are not to be told apart."""

    def __init__(self) -> None:
        self._closings: OrderedDict[tuple[Site, Site], int] = OrderedDict()

    def closes(self, parent: Node, child: Node) -> bool:
        """Whether recording ``child`` after ``parent`` begins a loop's next round."""
        if child.source is None:
            return False
        closing = (_site(parent), _site(child))
        known = self._closings.get(closing)
        if known is not None:
            return known > 0
        length = heads_a_loop([_site(node) for node in parent.path()], closing[1])
        if not length:
            return False
        self._closings[closing] = length
        if len(self._closings) > _KEPT:
            self._closings.popitem(last=False)
        return True

    def inner(self, pieces: Sequence[Node]) -> list[Node]:
        """Of the traces' ends ``pieces``, in one stretch of a program, those cut by a loop that is only a part of the
        stretch. Such a loop ends no trace any more."""
        sites = [_site(node) for piece in pieces for node in piece.path()]
        found = []
        for piece, following in pairwise(pieces):
            closing = (_site(piece), _site(following.first))
            if piece.cut and closing in self._closings and not _dominates(sites, self._closings[closing]):
                self._closings[closing] = 0
                found.append(piece)
        return found


def _dominates(sites: list[Site], length: int) -> bool:
    """Whether rounds of this length are most of ``sites``."""
    matches = sum(here == before for here, before in zip(sites[length:], sites, strict=False)) if length else 0
    return matches >= _DOMINANT * len(sites)


def _site(node: Node) -> Site:
    return node.key[0], node.source


def heads_a_loop(sites: list[Site], following: Site) -> int:
    """The sites in a round, where ``sites`` ends in two or more equal rounds of a loop that begins at ``following`` and
    is half of what there is: a shorter stretch may be a loop inside the one that matters. Else 0."""
    end = len(sites)
    for length in range(end // 2, 0, -1):
        if sites[end - length] == following and sites[end - length :] == sites[end - 2 * length : end - length]:
            before = _matches_before(sites, length)
            return length if before % length == 0 and 2 * (2 * length + before) >= end else 0
    return 0


def _matches_before(sites: list[Site], length: int) -> int:
    """How many sites before the last two rounds go on with the same period."""
    position = len(sites) - 2 * length - 1
    count = 0
    while position >= 0 and sites[position] == sites[position + length]:
        position -= 1
        count += 1
    return count
