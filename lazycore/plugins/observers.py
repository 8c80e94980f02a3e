"""Tell the selected plugins what the core did. An observer that fails is a warning, never the user's problem."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

from lazycore_plugin_api import BackendError, Graph, Node, Segment

from lazycore.plugins.selection import current
from lazycore.plugins.warning import PluginWarning

__all__ = ["compiled", "fell_back", "synced", "traced"]


def traced(graph: Graph) -> None:
    """A trace was seen for the first time."""
    _tell("lazycore_traced", graph=graph)


def compiled(segment: Segment, backend: str, seconds: float) -> None:
    """A segment was compiled."""
    _tell("lazycore_compiled", segment=segment, backend=backend, seconds=seconds)


def fell_back(node: Node, reasons: Mapping[str, str]) -> None:
    """No backend took the node; reasons by backend."""
    _tell("lazycore_fell_back", node=node, reasons=reasons)


def synced(cause: str) -> None:
    """An uncached trace ended at the barrier named ``cause``."""
    _tell("lazycore_synced", cause=cause)


def _tell(hook: str, **arguments: Any) -> None:
    for backend in current():
        try:
            backend.observe(hook, **arguments)
        except BackendError as error:
            warnings.warn(str(error), PluginWarning, stacklevel=3)
