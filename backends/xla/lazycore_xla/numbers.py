"""A program's run-time numbers, packed: one vector per dtype takes the place of many 0-d arguments.

An optimizer's step has some for each parameter, and jax spends microseconds on every NumPy array that it is given.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np
from lazycore_plugin_api import DType, HostArray, Segment

__all__ = ["Packing"]

_NARROW = 4
"""Bytes of the widest numbers that jax takes as they are; of complex ones it is twice as many."""


@dataclass(frozen=True)
class Packing:
    """``buffers``: positions, among the segment's arguments, of those that are passed as they are; ``numbers``: dtype
    and positions of those that make a vector, which come after. All in the order in which the program takes them."""

    buffers: tuple[int, ...]
    numbers: tuple[tuple[DType, tuple[int, ...]], ...]

    @staticmethod
    def of(segment: Segment) -> Packing:
        """The packing of a segment's scalars."""
        places = defaultdict(list)
        for position in sorted(segment.scalars):
            places[segment.inputs[position].spec.dtype].append(position)
        buffers = tuple(p for p in range(len(segment.arguments)) if p not in segment.scalars)
        return Packing(buffers, tuple((dtype, tuple(positions)) for dtype, positions in places.items()))

    @property
    def wide(self) -> bool:
        """Whether jax would narrow one of the vectors without its 64-bit types."""
        return any(d.numpy.itemsize > (2 if d.numpy.kind == "c" else 1) * _NARROW for d, _ in self.numbers)

    def vectors(self, arguments: Sequence[Any]) -> list[HostArray]:
        """The vectors of a launch: ``arguments`` as the segment orders them, numbers as 0-d arrays."""
        return [np.array([arguments[p] for p in positions], dtype.numpy) for dtype, positions in self.numbers]

    def specs(self, segment: Segment) -> list[jax.ShapeDtypeStruct]:
        """What the packed program takes."""
        values = [segment.inputs[p].spec for p in self.buffers]
        given = [jax.ShapeDtypeStruct(spec.static_shape, spec.dtype.numpy) for spec in values]
        return given + [jax.ShapeDtypeStruct((len(places),), dtype.numpy) for dtype, places in self.numbers]

    def unpacking(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """The function, which takes all of a segment's arguments, as one that takes the buffers and the vectors."""

        def run(*given: jax.Array) -> Any:
            arguments = dict(zip(self.buffers, given, strict=False))
            for (_, positions), vector in zip(self.numbers, given[len(self.buffers) :], strict=True):
                arguments.update((p, vector[i]) for i, p in enumerate(positions))
            return function(*(arguments[p] for p in range(len(arguments))))

        return run
