"""Counters of what lazycore did since the program began, or since ``reset_metrics()``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

__all__ = ["METRICS", "Metrics", "metrics", "reset_metrics"]


class Metrics:
    """The live counters. Plain attributes, so that counting an op costs one addition; exact as long as one thread
    records, and never far off otherwise.

    ``cache_hits`` counts traces that were known to this process, ``cache_loads`` segments that an earlier process had
    compiled; ``compiles`` are those that neither had, and ``shared`` segments of
    new sizes that an executable for all sizes served. ``fallbacks`` counts executions of ops that ran eagerly, by op.
    """

    __slots__ = (
        "cache_hits", "cache_loads", "compile_seconds", "compiles", "fallbacks", "load_seconds", "ops_recorded",
        "shared", "syncs", "traces",
    )  # fmt: skip

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Set everything to zero."""
        self.ops_recorded = 0
        self.syncs = 0
        self.traces = 0
        self.compiles = 0
        self.cache_hits = 0
        self.compile_seconds = 0.0
        self.cache_loads = 0
        self.load_seconds = 0.0
        self.shared = 0
        self.fallbacks: Counter[str] = Counter()

    def snapshot(self) -> Mapping[str, Any]:
        """The counters by name, unchanged by what happens later; ``fallbacks`` is a mapping op -> count."""
        counts: dict[str, Any] = {name: getattr(self, name) for name in self.__slots__}
        counts["fallbacks"] = MappingProxyType(dict(self.fallbacks))
        return MappingProxyType(counts)


METRICS = Metrics()
"""The process's counters."""


def metrics() -> Mapping[str, Any]:
    """A snapshot of the counters: ops_recorded, syncs, traces, compiles, cache_hits, cache_loads, shared (int),
    compile_seconds, load_seconds (float), and fallbacks (op -> how often it ran eagerly)."""
    return METRICS.snapshot()


def reset_metrics() -> None:
    """Set all counters to zero."""
    METRICS.reset()
