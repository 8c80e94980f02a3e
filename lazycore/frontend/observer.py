"""What a compile does, counted, logged and told to observing plugins."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from lazycore_plugin_api import Graph, Node, Segment

from lazycore.config import config
from lazycore.plugins.backend import LoadedBackend
from lazycore.plugins.observers import Observers
from lazycore.report.metrics import METRICS

if TYPE_CHECKING:
    from lazycore.compiler.placement import Placement

__all__ = ["OBSERVER", "Telling", "count_fallback"]

_log = logging.getLogger("lazycore")


def count_fallback(op: str) -> None:
    """An op ran eagerly."""
    METRICS.fallbacks[op] += 1


class _Observer:
    """Counts and logs what the pipeline does, and keeps the last placements for whoever wants to show them."""

    def __init__(self) -> None:
        self.placements: list[Placement] = []
        self._said: set[str] = set()

    def compiled(self, segment: Segment, backend: str, seconds: float) -> None:  # noqa: ARG002
        METRICS.compiles += 1
        METRICS.compile_seconds += seconds

    def loaded(self, segment: Segment, backend: str, seconds: float) -> None:  # noqa: ARG002
        METRICS.cache_loads += 1
        METRICS.load_seconds += seconds

    def served(self, segment: Segment, backend: str) -> None:  # noqa: ARG002
        METRICS.shared += 1

    def fell_back(self, node: Node, reasons: Mapping[str, str]) -> None:
        _log.debug("%s at %s runs eagerly: %s", node.op, node.source, reasons)

    def placed(self, placement: Placement) -> None:
        del self.placements[:-255]
        self.placements.append(placement)
        line = str(placement)
        # The first plan is announced, and each later one that sends something new to eager; the rest would be noise.
        news = {entry.op for entry in placement.eager} - self._said
        if config.placement and (len(self.placements) == 1 or news):
            _log.warning(line)
        self._said |= news


OBSERVER = _Observer()


class Telling:
    """The pipeline's observer for traces of some backends: counted here, then told to the backends' plugins."""

    def __init__(self, backends: Sequence[LoadedBackend]) -> None:
        self._plugins = Observers(backends)

    def traced(self, graph: Graph) -> None:
        self._plugins.traced(graph)

    def synced(self, cause: str) -> None:
        self._plugins.synced(cause)

    def compiled(self, segment: Segment, backend: str, seconds: float) -> None:
        OBSERVER.compiled(segment, backend, seconds)
        self._plugins.compiled(segment, backend, seconds)

    def loaded(self, segment: Segment, backend: str, seconds: float) -> None:
        OBSERVER.loaded(segment, backend, seconds)

    def served(self, segment: Segment, backend: str) -> None:
        OBSERVER.served(segment, backend)

    def fell_back(self, node: Node, reasons: Mapping[str, str]) -> None:
        OBSERVER.fell_back(node, reasons)
        self._plugins.fell_back(node, reasons)

    def placed(self, placement: Placement) -> None:
        OBSERVER.placed(placement)
