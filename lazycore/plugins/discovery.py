"""Which backends are installed: entry points are listed, nothing is imported."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points

from lazycore_plugin_api import ENTRY_POINT_GROUP

__all__ = ["Candidate", "installed"]


@dataclass(frozen=True)
class Candidate:
    """An installed backend that nobody has imported yet. ``rivals`` are distributions that claim the same name."""

    name: str
    entry: EntryPoint
    rivals: tuple[str, ...] = ()

    @property
    def distribution(self) -> str:
        """The distribution that brings it."""
        return _distribution(self.entry)

    @property
    def version(self) -> str:
        """The distribution's version."""
        return self.entry.dist.version if self.entry.dist else "unknown"

    def __str__(self) -> str:
        return f"backend {self.name!r} ({self.distribution} {self.version}, {self.entry.value})"


def installed() -> Mapping[str, Candidate]:
    """The installed backends by name, in the order of their names. Read anew on each call."""
    by_name: dict[str, list[EntryPoint]] = {}
    for entry in entry_points(group=ENTRY_POINT_GROUP):
        by_name.setdefault(entry.name, []).append(entry)
    return {name: _candidate(name, by_name[name]) for name in sorted(by_name)}


def _candidate(name: str, entries: list[EntryPoint]) -> Candidate:
    if len({entry.value for entry in entries}) == 1:
        return Candidate(name, entries[0])
    return Candidate(name, entries[0], tuple(sorted(map(_distribution, entries))))


def _distribution(entry: EntryPoint) -> str:
    return entry.dist.name if entry.dist else "unknown distribution"
