"""Segments with symbolic sizes: which sizes a launch has, and the segment as it is for these."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from lazycore_plugin_api.backend import Buffer, HostArray
from lazycore_plugin_api.dims import Dim
from lazycore_plugin_api.errors import InvalidGraph
from lazycore_plugin_api.ir import Argument, Graph, Node, Segment, Value
from lazycore_plugin_api.specs import TensorSpec

__all__ = ["is_dynamic", "sizes_of", "specialized", "symbol_places", "with_sizes"]

Resize = Callable[[int | Dim], int | Dim]


def symbol_places(segment: Segment) -> dict[str, tuple[int, int]]:
    """Each symbol of the segment's sizes -> (position among ``arguments``, dimension) of an input that has this size.

    Raises InvalidGraph for a symbol that is the size of no input: nobody could tell its value at a launch.
    """
    places: dict[str, tuple[int, int]] = {}
    for position, value in enumerate(segment.arguments):
        for dimension, size in enumerate(value.spec.shape):
            if isinstance(size, Dim) and size.is_symbol:
                places.setdefault(size.name, (position, dimension))
    for size in _dims(segment):
        unknown = size.symbols - places.keys()
        if unknown:
            raise InvalidGraph(f"{segment.name} has the size {size}, and {min(unknown)} is the size of no input")
    return places


def is_dynamic(segment: Segment) -> bool:
    """Whether a size of the segment is symbolic."""
    return bool(_dims(segment))


def sizes_of(places: Mapping[str, tuple[int, int]], inputs: Sequence[Buffer | HostArray]) -> dict[str, int]:
    """What the symbols are at a launch: ``places`` from ``symbol_places``, ``inputs`` as ``Executable.run`` gets
    them."""
    return {name: _shape(inputs[position])[dimension] for name, (position, dimension) in places.items()}


def specialized(segment: Segment, sizes: Mapping[str, int]) -> Segment:
    """The segment where symbols have these values: no size of it is symbolic. Raises KeyError for a symbol without
    value."""
    return with_sizes(segment, lambda size: size.at(sizes) if isinstance(size, Dim) else size)


def with_sizes(segment: Segment, resize: Resize) -> Segment:
    """The segment with every size exchanged, and every integer among the arguments, booleans left out. They come in a
    fixed order: inputs, then node by node outputs, arguments and body; one of a value read again comes once."""
    graph = _with_sizes(segment, resize)
    return replace(segment, inputs=graph.inputs, nodes=graph.nodes, outputs=graph.outputs)


def _with_sizes(graph: Graph, resize: Resize) -> Graph:
    values: dict[int, Value] = {}

    def define(value: Value) -> Value:
        shape = tuple(map(resize, value.spec.shape))
        values[value.id] = Value(value.id, TensorSpec(shape, value.spec.dtype))
        return values[value.id]

    def argument(old: Argument) -> Argument:
        if isinstance(old, Value):
            return values[old.id]
        if isinstance(old, tuple):
            return tuple(map(argument, old))
        return resize(old) if isinstance(old, Dim) or type(old) is int else old

    inputs = tuple(map(define, graph.inputs))
    nodes = []
    for node in graph.nodes:
        args = tuple(map(argument, node.args))
        kwargs = {name: argument(old) for name, old in node.kwargs.items()}
        body = None if node.body is None else _with_sizes(node.body, resize)
        nodes.append(Node(node.op, args, kwargs, tuple(map(define, node.outputs)), node.source, body))
    return Graph(inputs, nodes, tuple(values[value.id] for value in graph.outputs))


def _dims(segment: Segment) -> list[Dim]:
    found: list[Dim] = []

    def look(size: int | Dim) -> int | Dim:
        if isinstance(size, Dim):
            found.append(size)
        return size

    with_sizes(segment, look)
    return found


def _shape(value: Buffer | HostArray) -> Sequence[Any]:
    return value.spec.shape if isinstance(value, Buffer) else value.shape
