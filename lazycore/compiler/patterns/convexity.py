"""Whether a group of nodes can become one node: no path may leave it and come back, through other groups neither."""

from __future__ import annotations

from collections.abc import Collection

from lazycore_plugin_api import Graph

__all__ = ["Groups"]


class Groups:
    """A graph some of whose nodes are already groups."""

    def __init__(self, graph: Graph) -> None:
        writer = {v.id: i for i, node in enumerate(graph.nodes) for v in node.outputs}
        self._readers: list[set[int]] = [set() for _ in graph.nodes]
        for position, node in enumerate(graph.nodes):
            for value in node.inputs():
                if value.id in writer:
                    self._readers[writer[value.id]].add(position)
        self._group: dict[int, frozenset[int]] = {}

    def taken(self, positions: Collection[int]) -> bool:
        """Whether some of these nodes are in a group."""
        return any(position in self._group for position in positions)

    def add(self, members: frozenset[int]) -> None:
        """Make a group of these nodes."""
        self._group.update(dict.fromkeys(members, members))

    def comes_back(self, members: frozenset[int]) -> bool:
        """Whether some path leaves these nodes and comes back to them; it passes through a group as a whole."""
        bound = self._bound(max(members))
        pending = [r for m in members for r in self._readers[m] if r not in members]
        seen: set[int] = set()
        while pending:
            position = pending.pop()
            if position in seen or position > bound:
                continue
            group = self._group.get(position, frozenset((position,)))
            seen |= group
            for reader in (r for m in group for r in self._readers[m]):
                if reader in members:
                    return True
                pending.append(reader)
        return False

    def _bound(self, last: int) -> int:
        """A position behind which no way leads back to ``last``: nodes only read what lies before them, so that only
        groups which reach over it can."""
        while True:
            further = max((max(g) for g in self._group.values() if min(g) <= last), default=last)
            if further <= last:
                return last
            last = further
