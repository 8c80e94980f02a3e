"""Segments of one place that differ in nothing but sizes, and what was compiled for all of them."""

from __future__ import annotations

import zlib
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from lazycore_plugin_api import Dim, Executable, Segment, to_json, with_sizes

from lazycore.compiler.protocols import Backend
from lazycore.compiler.sizing.relations import FEWEST, generalized

__all__ = ["Families", "Family"]

MEMBERS = 3
"""Executables for all sizes of one family: a guess that was wrong is followed by another, but not for ever."""
SAMPLES = 8
"""Sizes of one family that are remembered."""

_HIDDEN = Dim("_")

Sizes = tuple[int, ...]


@dataclass(frozen=True)
class _Member:
    """An executable for all sizes that ``sizes``, place by place, stand for."""

    sizes: tuple[int | Dim, ...]
    executable: Executable

    def values(self, sizes: Sizes) -> Mapping[str, int] | None:
        """The symbols' values where these sizes are an instance, else None."""
        pairs = list(zip(self.sizes, sizes, strict=True))
        values = {mine.name: size for mine, size in pairs if isinstance(mine, Dim) and mine.is_symbol}
        fits = all((mine.at(values) if isinstance(mine, Dim) else mine) == size for mine, size in pairs)
        return values if fits else None


@dataclass
class Family:
    """What is known of one place. ``refusal``: why it is compiled size by size, once that is known."""

    samples: list[Sizes] = field(default_factory=list)
    members: list[_Member] = field(default_factory=list)
    refusal: str | None = None

    def find(self, segment: Segment) -> tuple[Executable, Mapping[str, int]] | None:
        """The executable that serves this segment too, and the symbols' values for it."""
        sizes, _ = _seen(segment)
        for member in self.members:
            values = member.values(sizes)
            if values is not None:
                return member.executable, values
        return None

    def general(self, segment: Segment) -> Segment | None:
        """A segment with symbolic sizes that this one and those seen before are instances of, if it is worth a try;
        the segment counts as seen from now on."""
        sizes, inputs = _seen(segment)
        if sizes not in self.samples:
            self.samples = [*self.samples[-SAMPLES + 1 :], sizes]
        if self.refusal is not None or len(self.members) == MEMBERS or len(self.samples) < 2:
            return None
        found = generalized(self.samples, inputs)
        return None if found is None else _with(segment, found)

    def keep(self, general: Segment, executable: Executable) -> None:
        """Serve what ``general`` stands for with its executable."""
        self.members.insert(0, _Member(tuple(_sizes(general)[0]), executable))


class Families:
    """Families by backend and place, the least recently used forgotten beyond ``limit``. For one thread at a time."""

    def __init__(self, limit: int = 256) -> None:
        self._limit = limit
        self._known: OrderedDict[tuple[Backend, bytes], Family] = OrderedDict()

    def of(self, backend: Backend, segment: Segment) -> Family | None:
        """The segment's family; None for one that is compiled for its own sizes in any case."""
        if not backend.info.capabilities.dynamic_dims or segment.constants:
            return None
        text = to_json(with_sizes(segment, lambda size: _HIDDEN if _may_vary(size) else size))
        # Compressed and no digest: what compares equal is the same.
        key = backend, zlib.compress(text.encode(), 1)
        family = self._known.setdefault(key, Family())
        self._known.move_to_end(key)
        while len(self._known) > self._limit:
            self._known.popitem(last=False)
        return family


def _seen(segment: Segment) -> tuple[Sizes, int]:
    """The numbers that may vary, in the order of ``with_sizes``, and how many of them are the inputs' sizes."""
    sizes, inputs = _sizes(segment)
    return tuple(size for size in sizes if isinstance(size, int)), inputs


def _may_vary(size: int | Dim) -> bool:
    return isinstance(size, Dim) or size >= FEWEST


def _sizes(segment: Segment) -> tuple[list[int | Dim], int]:
    """The sizes that may vary, in the order of ``with_sizes``, and how many of them are the inputs'."""
    found: list[int | Dim] = []

    def note(size: int | Dim) -> int | Dim:
        if _may_vary(size):
            found.append(size)
        return size

    with_sizes(segment, note)
    return found, sum(_may_vary(size) for value in segment.inputs for size in value.spec.shape)


def _with(segment: Segment, sizes: Iterable[int | Dim]) -> Segment:
    """The segment with these sizes in the places of those that may vary."""
    rest = iter(sizes)
    return with_sizes(segment, lambda size: next(rest) if _may_vary(size) else size)
