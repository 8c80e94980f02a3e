"""What a compile does, counted, logged and told to observing plugins."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import TYPE_CHECKING

from lazycore_plugin_api import Node, Segment

from lazycore.config import config
from lazycore.report.metrics import METRICS

if TYPE_CHECKING:
    from lazycore.compiler.placement import Placement

__all__ = ["OBSERVER", "count_fallback"]

_log = logging.getLogger("lazycore")


def count_fallback(op: str) -> None:
    """An op ran eagerly."""
    METRICS.fallbacks[op] += 1


class _Observer:
    """The pipeline's observer: it keeps the last placement for whoever wants to show it."""

    def __init__(self) -> None:
        self.placements: list[Placement] = []
        self._said: set[str] = set()

    def compiled(self, segment: Segment, backend: str, seconds: float) -> None:  # noqa: ARG002
        METRICS.compiles += 1
        METRICS.compile_seconds += seconds

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
