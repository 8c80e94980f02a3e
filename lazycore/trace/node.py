"""A node of the trace tree: one call site, reached by one history."""

from __future__ import annotations

from typing import Any

from lazycore_plugin_api import Source

from lazycore.trace.call import Call, Compound
from lazycore.trace.layout import Layout

__all__ = ["Node"]


class Node:
    """What follows from recording one key after the parent's history.

    For hot kernels with one result: ``index``, ``layout``, ``size``, ``native`` and ``plain`` (the result is
    contiguous). ``outs`` has (layout, index) of each result that gets a storage, None for one that does not exist.
    ``written``: the values that mutated storages take, in the op's order. The counts are those of the whole path;
    ``first`` is the path's first node. ``cut``: a barrier comes before whatever follows. ``alias``: a key with exact
    numbers under which the parent has this node too.
    """

    __slots__ = (
        "__weakref__", "alias", "calls", "children", "compound", "cut", "depth", "first", "index", "key", "layout",
        "masked", "names", "native", "nbytes", "ninputs", "nscalars", "nvalues", "outs", "parent", "plain", "plan",
        "seen", "size", "source", "written",
    )  # fmt: skip

    depth: int
    nbytes: int
    ninputs: int
    nscalars: int
    nvalues: int

    def __init__(self, parent: Node | None, key: Any, calls: tuple[Call, ...], source: Source | None) -> None:
        self.parent = parent
        self.key = key
        self.alias: Any = None
        self.calls = calls
        self.compound: Compound | None = None
        self.source = source
        self.names: tuple[str, ...] = ()
        self.children: dict[Any, Node] = {}
        self.masked: dict[Any, Node] = {}
        self.outs: tuple[tuple[Layout, int] | None, ...] = ()
        self.written: tuple[int, ...] = ()
        self.cut = False
        self.first: Node = parent.first if parent is not None and parent.parent is not None else self
        self.plan: Any = None
        self.seen: frozenset[int] = frozenset()
        self.index = -1
        self.layout: Layout | None = None
        self.size: tuple[int, ...] = ()
        self.native: Any = None
        self.plain = True
        self.depth = parent.depth + 1 if parent else 0
        self.ninputs = parent.ninputs if parent else 0
        self.nscalars = parent.nscalars if parent else 0
        self.nvalues = parent.nvalues if parent else 0
        self.nbytes = parent.nbytes if parent else 0

    @property
    def op(self) -> str:
        """What the program called here."""
        if self.compound is not None:
            return self.compound.op
        return self.calls[0].op if self.calls else "?"

    def set_outs(self, layouts: tuple[Layout | None, ...], written: tuple[Layout, ...]) -> None:
        """Number the results and the mutated storages' next values, results first."""
        outs = []
        for layout in layouts:
            outs.append(None if layout is None else (layout, self._number(layout)))
        self.outs = tuple(outs)
        self.written = tuple(self._number(layout) for layout in written)
        if len(self.outs) == 1 and self.outs[0] is not None:
            self.layout, self.index = self.outs[0]
            self.size, self.native = self.layout.size, self.layout.native
            self.plain = self.layout.contiguous and self.layout.numel > 0
        elif self.written:
            self.index = self.written[0]

    def _number(self, layout: Layout) -> int:
        index = self.nvalues
        self.nvalues += 1
        self.nbytes += layout.nbytes
        return index

    def path(self) -> list[Node]:
        """The nodes from the root's first child to this one."""
        nodes: list[Node] = []
        node: Node | None = self
        while node is not None and node.parent is not None:
            nodes.append(node)
            node = node.parent
        return nodes[::-1]
