"""Serve a segment by an executable for all sizes: one that is there, or one that is compiled now."""

from __future__ import annotations

import time
from collections.abc import Mapping

from lazycore_plugin_api import CompileFailure, Executable, InvalidGraph, Rejected, Segment, verify

from lazycore.compiler.annotate import Annotator
from lazycore.compiler.failures import warn_static
from lazycore.compiler.protocols import Observer
from lazycore.compiler.sizing.family import Families, Family

__all__ = ["Served", "Serving"]


class Served:
    """A segment's executable, if one for all sizes serves it, and ``note``: what a report says of its sizes."""

    def __init__(self, executable: Executable | None, note: str) -> None:
        self.executable = executable
        self.note = note


class Serving:
    """The families known so far, on behalf of one compile."""

    def __init__(self, families: Families, annotator: Annotator, observer: Observer) -> None:
        self._families = families
        self._annotator = annotator
        self._observer = observer

    def serve(self, position: int, segment: Segment) -> Served:
        """Look for an executable that serves the segment of the backend at ``position``; where the family has shown
        which sizes vary, compile one. A backend that cannot is not asked again for this family."""
        family = self._families.of(self._annotator.backends[position], segment)
        if family is None:
            return Served(None, "")
        found = family.find(segment)
        if found is not None:
            self._observer.served(segment, self._annotator.backends[position].name)
            return Served(found[0], _note(found[1]))
        general = family.general(segment)
        if general is not None:
            family.refusal = self._compiled(position, family, general, segment)
            found = family.find(segment)
        if found is not None:
            return Served(found[0], _note(found[1]))
        return Served(None, f"for its own sizes: {family.refusal}" if family.refusal else "")

    def _compiled(self, position: int, family: Family, general: Segment, segment: Segment) -> str | None:
        """Compile the general segment into the family; why not, if it cannot be."""
        for node in general.nodes:
            decision = self._annotator.decision(node, position)
            if isinstance(decision, Rejected):
                return f"{node.op}: {decision.reason}"
        result = self._executable(position, general)
        if isinstance(result, CompileFailure):
            warn_static(self._annotator.backends[position].name, segment, result)
            return result.reason
        family.keep(general, result)
        return None

    def _executable(self, position: int, general: Segment) -> Executable | CompileFailure:
        backend, start = self._annotator.backends[position], time.perf_counter()
        try:
            verify(general)
        except InvalidGraph as error:
            return CompileFailure(str(error), error)
        (stored,) = backend.restore([general])
        if stored is not None:
            self._observer.loaded(general, backend.name, time.perf_counter() - start)
            return stored
        (result,) = backend.compile([general])
        if isinstance(result, Executable):
            self._observer.compiled(general, backend.name, time.perf_counter() - start)
        return result


def _note(values: Mapping[str, int]) -> str:
    return "for all sizes, here " + ", ".join(f"{name}={size}" for name, size in values.items())
