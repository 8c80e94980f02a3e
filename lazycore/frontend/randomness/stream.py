"""How a trace knows the generator: seed and offset are two of its run-time numbers, once for a run of draws.

Draws that follow one another without a change of state count on from the first, so that a network with twenty dropouts
has two numbers more and not forty. The numbers are never in a key: every training step is the same trace.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from lazycore_plugin_api import DType

from lazycore.frontend.randomness.generator import GENERATOR
from lazycore.frontend.template import Decoder
from lazycore.trace.call import Lifted
from lazycore.trace.keys import Mark
from lazycore.trace.recorder import Trace

__all__ = ["Place", "decode_place"]

_NEW = Mark("a new random stream")


@dataclass(slots=True)
class _Stream:
    """Draws from ``seed`` on, whose seed and offset are the trace's numbers ``position`` and ``position + 1``.
    ``following``: the offset that would continue it; ``drawn``: how many draws it has made."""

    position: int
    seed: int
    following: int
    drawn: int


class Place:
    """One draw's place in the device's random stream, taken from the generator."""

    __slots__ = ("_new", "offset", "seed")

    def __init__(self) -> None:
        self.seed, self.offset = GENERATOR.take()
        self._new: _Stream | None = None

    def key(self, trace: Trace) -> Any:
        """Its key item. Two numbers are pushed where it does not go on from the last draw that was recorded."""
        stream: _Stream | None = trace.stream
        if stream is not None and stream.seed == self.seed and stream.following == self.offset:
            self._new = None
            return (stream.position, stream.drawn)
        self._new = _Stream(len(trace.scalars), self.seed, self.offset + 1, 1)
        trace.scalars += (self.seed, self.offset)
        return _NEW

    def commit(self, trace: Trace) -> None:
        """The draw was recorded."""
        if self._new is not None:
            trace.stream = self._new
        else:
            trace.stream.following += 1
            trace.stream.drawn += 1


def decode_place(decoder: Decoder, key: Any) -> tuple[Lifted, Lifted, int]:
    """Seed and offset as a call's arguments, and how many draws the call lies further on."""
    if key is _NEW:
        position, further = decoder.scalars, 0
        decoder.scalars += 2
    else:
        position, further = key
    return Lifted(position, DType.int64), Lifted(position + 1, DType.int64), further
