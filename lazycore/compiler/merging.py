"""Merge units of one backend wherever no cycle arises from it, those with the most bytes between them first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from lazycore.compiler.unit import Unit

__all__ = ["merge"]


def merge(units: Sequence[Unit], edges: Sequence[set[int]], weights: Mapping[tuple[int, int], int]) -> list[Unit]:
    """The units, merged until no two of one backend can be; ``edges``: unit -> the units it reads from; ``weights``:
    (writer, reader) of one backend -> bytes between them. Units must come behind those that they read from."""
    merger = _Merger(units, edges)
    merger.along(sorted(weights, key=lambda pair: (-weights[pair], pair)))
    merger.anywhere()
    return merger.result()


class _Merger:
    def __init__(self, units: Sequence[Unit], edges: Sequence[set[int]]) -> None:
        self.units = units
        self.reach = _Reachability(edges)
        self.members: dict[int, list[int]] = {u: list(unit.nodes) for u, unit in enumerate(units)}
        # Merged unit -> the one that stands for it.
        self.home: dict[int, int] = {}

    def along(self, pairs: list[tuple[int, int]]) -> None:
        """Merge neighbours, again and again: a merge can take away the detour that forbade another."""
        while True:
            rest = [pair for pair in pairs if not self._join(*map(self._home, pair))]
            if len(rest) == len(pairs):
                return
            pairs = rest

    def anywhere(self) -> None:
        """Merge whatever can be merged."""
        changed = True
        while changed:
            changed = False
            for later in [u for u in self.members if self.units[u].backend is not None]:
                for earlier in [u for u in self.members if u < later]:
                    if later in self.members and self.units[earlier].backend == self.units[later].backend:
                        changed |= self._join(earlier, later)

    def result(self) -> list[Unit]:
        """The units that are left."""
        return [Unit(self.units[u].backend, tuple(sorted(nodes))) for u, nodes in self.members.items()]

    def _home(self, unit: int) -> int:
        while unit in self.home:
            unit = self.home[unit]
        return unit

    def _join(self, a: int, b: int) -> bool:
        """Make one unit of two, if that makes no cycle; true as well where they are one already."""
        if a == b:
            return True
        if not self.reach.mergeable(a, b):
            return False
        self.reach.merge(a, b)
        self.members[b] += self.members.pop(a)
        self.home[a] = b
        return True


class _Reachability:
    """Ancestors and descendants of every unit as bit sets, kept right while units merge."""

    def __init__(self, edges: Sequence[set[int]]) -> None:
        self.above = [0] * len(edges)
        self.below = [0] * len(edges)
        for u, sources in enumerate(edges):
            for s in sources:
                self.above[u] |= self.above[s] | 1 << s
            for a in _bits(self.above[u]):
                self.below[a] |= 1 << u

    def mergeable(self, a: int, b: int) -> bool:
        """Whether no path between the two passes through a third unit."""
        return not (self.below[a] & self.above[b] or self.below[b] & self.above[a])

    def merge(self, gone: int, kept: int) -> None:
        """Make ``kept`` stand for both units."""
        both = 1 << gone | 1 << kept
        self.above[kept] = (self.above[kept] | self.above[gone]) & ~both
        self.below[kept] = (self.below[kept] | self.below[gone]) & ~both
        for u in _bits(self.below[kept]):
            self.above[u] = (self.above[u] | self.above[kept] | 1 << kept) & ~(1 << gone)
        for u in _bits(self.above[kept]):
            self.below[u] = (self.below[u] | self.below[kept] | 1 << kept) & ~(1 << gone)


def _bits(mask: int) -> Iterator[int]:
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low
