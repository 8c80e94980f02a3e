"""Looking at every segment that is compiled."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from lazycore_plugin_api import Segment

from lazycore.frontend.observer import OBSERVER

__all__ = ["gathers", "witnessed"]

# Only the geometry of views makes these; what a program itself gathers arrives as index, gather, embedding, …
_GATHERS = ("aten.take.default", "aten.put.default")


@contextmanager
def witnessed() -> Iterator[list[Segment]]:
    """A list that fills with the segments compiled meanwhile."""
    segments: list[Segment] = []
    told = OBSERVER.compiled

    def compiled(segment: Segment, backend: str, seconds: float) -> None:
        segments.append(segment)
        told(segment, backend, seconds)

    OBSERVER.compiled = compiled  # type: ignore[method-assign]
    try:
        yield segments
    finally:
        del OBSERVER.compiled


def gathers(segments: list[Segment]) -> list[str]:
    """The nodes that read or write a view element by element, as text with their source line."""
    return [f"{n.op} at {n.source}" for s in segments for n in s.nodes if n.op in _GATHERS]
