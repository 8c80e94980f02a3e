"""Segments whose sizes vary: one executable, which plans its NumPy calls for each sizes that it meets."""

from __future__ import annotations

from collections.abc import Sequence

from lazycore_plugin_api import (
    Buffer,
    Executable,
    HostArray,
    Segment,
    is_dynamic,
    sizes_of,
    specialized,
    symbol_places,
)

from lazycore_reference.executable import ReferenceExecutable, serialized

__all__ = ["DynamicExecutable", "executable"]

_PLANS = 64


class DynamicExecutable(Executable):
    """Reads the sizes off its inputs. Plans are kept, up to a number: a program comes back to its sizes."""

    def __init__(self, segment: Segment) -> None:
        self._segment = segment
        self._places = symbol_places(segment)
        self._plans: dict[tuple[int, ...], ReferenceExecutable] = {}

    def run(self, inputs: Sequence[Buffer | HostArray]) -> Sequence[Buffer]:
        """The outputs as buffers of their own. Raises BackendError, naming op and line, where a node fails."""
        return self._plan(tuple(sizes_of(self._places, inputs).values())).run(inputs)

    def serialize(self) -> bytes | None:
        """The segment, as that of static ones."""
        return serialized(self._segment)

    def _plan(self, sizes: tuple[int, ...]) -> ReferenceExecutable:
        plan = self._plans.get(sizes)
        if plan is None:
            if len(self._plans) >= _PLANS:
                self._plans.clear()
            values = dict(zip(self._places, sizes, strict=True))
            plan = self._plans[sizes] = ReferenceExecutable(specialized(self._segment, values))
        return plan


def executable(segment: Segment) -> Executable:
    """The segment's executable. Raises KeyError for an op without lowering."""
    return DynamicExecutable(segment) if is_dynamic(segment) else ReferenceExecutable(segment)
