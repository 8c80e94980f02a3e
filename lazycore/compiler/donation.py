"""Which inputs an executable may overwrite, and with what.

A compiler that is told which inputs it may overwrite pairs them with outputs: jax takes for each the first output of
the same type that is free. The wrong one costs two copies: of what was in the input, as it is still needed, and of the
output that is put into its memory, as where a gradient was to lie where its parameter had been. So outputs are put in
the order in which each input meets the value that the program overwrites it with.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator, Mapping

from lazycore_plugin_api import Segment, TensorSpec, Value

__all__ = ["donate"]


def donate(segment: Segment, free: set[int], successors: Mapping[int, int]) -> None:
    """Set what is donatable of a segment and the order of its outputs. ``free``: ids of input values that nobody wants
    afterwards; ``successors``: id of a value -> of the one that takes its place in the program."""
    pairs = _pairs(segment, free, successors)
    segment.donatable = _donatable(segment, free, pairs)
    segment.outputs = tuple(_ordered(segment, pairs))


def _pairs(segment: Segment, free: set[int], successors: Mapping[int, int]) -> dict[int, Value]:
    """Position of a free input -> its successor, where that is an output of the same spec."""
    outputs = {value.id: value for value in segment.outputs}
    pairs = {}
    for position in _candidates(segment, free):
        value = segment.inputs[position]
        successor = outputs.get(successors.get(value.id, -1))
        if successor is not None and successor.spec == value.spec:
            pairs[position] = outputs.pop(successor.id)
    return pairs


def _candidates(segment: Segment, free: set[int]) -> Iterator[int]:
    taken = segment.scalars | segment.constants.keys()
    return (p for p, value in enumerate(segment.inputs) if value.id in free and p not in taken)


def _donatable(segment: Segment, free: set[int], pairs: Mapping[int, Value]) -> frozenset[int]:
    """All that have a successor, and of the others as many as outputs of their spec are left."""
    room: Counter[TensorSpec] = Counter(value.spec for value in segment.outputs)
    room.subtract(value.spec for value in pairs.values())
    chosen = set(pairs)
    for position in _candidates(segment, free):
        spec = segment.inputs[position].spec
        if position not in pairs and room[spec] > 0:
            room[spec] -= 1
            chosen.add(position)
    return frozenset(chosen)


def _ordered(segment: Segment, pairs: Mapping[int, Value]) -> Iterator[Value]:
    """First one output for each donatable input, in the inputs' order; then the others as they were."""
    paired = {value.id for value in pairs.values()}
    others: dict[TensorSpec, deque[Value]] = {}
    for value in segment.outputs:
        if value.id not in paired:
            others.setdefault(value.spec, deque()).append(value)
    first = [pairs[p] if p in pairs else others[segment.inputs[p].spec].popleft() for p in sorted(segment.donatable)]
    yield from first
    placed = {value.id for value in first}
    yield from (value for value in segment.outputs if value.id not in placed)
