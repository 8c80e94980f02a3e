"""The trace tree: roots, growth by misses, lifting, and forgetting."""

from __future__ import annotations

import threading
from collections import OrderedDict, deque
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

from lazycore.trace.circles import Circles
from lazycore.trace.divergence import Divergence, explain, variants
from lazycore.trace.keys import masked
from lazycore.trace.node import Node

__all__ = ["TOO_MANY", "Limits", "Tree"]

TOO_MANY = 3
"""Programs that differ at one call: from so many on there may be no end of them."""


@dataclass
class Limits:
    """How far a trace may grow without a barrier, and how much the tree may remember.

    From ``soft_ops`` on a trace ends where a loop begins its next round, so that a loop without a natural barrier
    settles into traces of whole rounds (not where ``judge`` finds a loop inside of something larger); at ``hard_ops``
    or ``nbytes`` of results it ends in any case.
    ``plans`` bounds the compiled traces kept, the least recently used going first.
    """

    soft_ops: int = 512
    hard_ops: int = 4000
    nbytes: int = 4 << 30
    copy_ops: int = 16
    plans: int = 256


class Tree:
    """All traces seen, shared by all threads. ``lock`` guards growth, never a hit; ``compiling`` makes one thread at a
    time compile, while others go on recording. ``divergences`` say why traces were compiled beyond the first,
    ``recurring`` which of them nobody has been told of and are the third at their place."""

    def __init__(self, limits: Limits | None = None) -> None:
        self.limits = limits or Limits()
        self.roots: dict[Hashable, Node] = {}
        self.lock = threading.RLock()
        self.compiling = threading.RLock()
        self.unopened = Node(None, None, (), None)
        self.unopened.cut = True
        self.divergences: deque[Divergence] = deque(maxlen=256)
        self.recurring: deque[Divergence] = deque(maxlen=16)
        self._circles = Circles()
        self._plans: OrderedDict[int, Node] = OrderedDict()

    def clear(self) -> None:
        """Forget everything: traces, plans, loops, and what there was to say of them."""
        with self.lock:
            self.roots.clear()
            self.divergences.clear()
            self.recurring.clear()
            self._plans.clear()
            self._circles = Circles()

    def root(self, key: Hashable) -> Node:
        """The root of traces that run under ``key``: default dtype, precision flags, backend selection, RNG mode."""
        node = self.roots.get(key)
        if node is None:
            node = self.roots.setdefault(key, Node(None, key, (), None))
        return node

    def full(self, node: Node) -> bool:
        """Whether a barrier must come before anything is recorded after ``node``."""
        return node.cut or node.depth >= self.limits.hard_ops or node.nbytes >= self.limits.nbytes

    def lifted(self, node: Node, mask: Any) -> Node | None:
        """The child whose literals were lifted at this place, if any."""
        return node.children.get(mask)

    def sibling(self, node: Node, mask: Any) -> Node | None:
        """A child that differs from ``mask`` in liftable literals only."""
        return node.masked.get(mask)

    def adopt(self, parent: Node, child: Node) -> bool:
        """Hang a finished child under its parent, unless a loop comes full circle there: then mark the parent as the
        place of a barrier and return False."""
        if parent.depth >= self.limits.soft_ops and self._circles.closes(parent, child):
            parent.cut = True
            return False
        if parent.children:
            self.divergences.append(explain(parent, child))
            if variants(parent, child) == TOO_MANY:
                self.recurring.append(self.divergences[-1])
        mask = masked(child.key)
        known = parent.masked.get(mask)
        if known is not None and child.key == mask:
            # A lifted place stays lifted: the numbers known so far go the new way too. Else places that vary one by
            # one would make as many paths as there are combinations.
            parent.children[known.key] = child
            child.alias = known.key
        parent.masked[mask] = child
        parent.children[child.key] = child
        return True

    def judge(self, pieces: list[Node]) -> None:
        """``pieces`` are the ends of traces from one of the program's own barriers to the next. Where loops cut them
        that are only a part of what was recorded, as the cells of a recurrent network are of a training step, and all
        of it is no more than a trace may hold, it is recorded in one piece from now on."""
        if sum(node.depth for node in pieces) > self.limits.hard_ops:
            return
        with self.lock:
            for node in self._circles.inner(pieces):
                node.cut = False

    def touch(self, node: Node) -> None:
        """Note that a trace ended at the node, and forget the ends longest unused beyond the bound."""
        with self.lock:
            self._plans[id(node)] = node
            self._plans.move_to_end(id(node))
            while len(self._plans) > self.limits.plans:
                self._forget(self._plans.popitem(last=False)[1])

    @staticmethod
    def _forget(node: Node) -> None:
        # Dropped nodes stay valid for a trace that stands on one: it merely cannot be found again.
        node.plan = None
        current = node
        while current.parent is not None and not current.children and current.plan is None:
            parent = current.parent
            for key in (current.key, current.alias):
                if parent.children.get(key) is current:
                    del parent.children[key]
            mask = masked(current.key)
            if parent.masked.get(mask) is current:
                del parent.masked[mask]
            current = parent
