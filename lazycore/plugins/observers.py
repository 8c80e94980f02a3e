"""Tell plugins what the core did. An observer that fails is a warning, never the user's problem."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from lazycore_plugin_api import BackendError, Graph, Node, Segment

from lazycore.plugins.backend import LoadedBackend
from lazycore.plugins.warning import PluginWarning

__all__ = ["Observers"]


class Observers:
    """The observing hooks of some backends, each told in the order of the selection."""

    def __init__(self, backends: Sequence[LoadedBackend]) -> None:
        self._backends = backends

    def traced(self, graph: Graph) -> None:
        """A trace was seen for the first time."""
        self._tell("lazycore_traced", graph=replace(graph, nodes=list(graph.nodes)))

    def compiled(self, segment: Segment, backend: str, seconds: float) -> None:
        """A segment was compiled."""
        self._tell("lazycore_compiled", segment=segment, backend=backend, seconds=seconds)

    def fell_back(self, node: Node, reasons: Mapping[str, str]) -> None:
        """No backend took the node; reasons by backend."""
        self._tell("lazycore_fell_back", node=node, reasons=reasons)

    def synced(self, cause: str) -> None:
        """An uncached trace ended at the barrier named ``cause``."""
        self._tell("lazycore_synced", cause=cause)

    def _tell(self, hook: str, **arguments: Any) -> None:
        for backend in self._backends:
            try:
                backend.observe(hook, **arguments)
            except BackendError as error:
                warnings.warn(str(error), PluginWarning, stacklevel=3)
