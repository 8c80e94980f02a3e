"""The name of a compiled segment: everything that an executable depends on, and nothing else.

Lines of the user's program, the segment's name and the numbering of its values are not part of it: the same model in
another file, or behind another prologue, has the same executables.
"""

from __future__ import annotations

import hashlib
import platform
import sys
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import count

import numpy as np
from lazycore_plugin_api import (
    API_VERSION,
    Argument,
    BackendInfo,
    Graph,
    HostArray,
    Node,
    Segment,
    Target,
    Value,
    to_json,
)

__all__ = ["canonical", "digest", "segment_key"]


def segment_key(segment: Segment, info: BackendInfo, target: Target, build: str) -> str:
    """64 hexadecimal digits, equal exactly where the backend would compile the same. ``build`` tells builds of the
    plugin apart that call themselves by one version."""
    key = hashlib.blake2b(digest_size=32)
    for part in (*_environment(info, target, build), *_constants(segment), to_json(canonical(segment))):
        # Lengths first: parts must not run into each other.
        key.update(f"{len(part)}:".encode())
        key.update(part.encode())
    return key.hexdigest()


def _environment(info: BackendInfo, target: Target, build: str) -> Iterator[str]:
    yield from (info.name, info.version, repr(info.api_version), repr(API_VERSION), info.fingerprint, build)
    yield from (target.device, repr(sorted(target.options.items())), info.constants.value)
    yield from (sys.platform, platform.machine())


def _constants(segment: Segment) -> Iterator[str]:
    for position, array in sorted(segment.constants.items()):
        yield f"{position} {array.shape} {array.dtype} {digest(array)}"


def digest(array: HostArray) -> str:
    """A digest of the elements' bits, in row-major order."""
    return hashlib.blake2b(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data).hexdigest()


def canonical(segment: Segment) -> Segment:
    """The segment as any other program would have it: values numbered in order, no lines, no name of its own."""
    plain = _canonical(segment)
    return replace(segment, inputs=plain.inputs, nodes=plain.nodes, outputs=plain.outputs, name="segment")


def _canonical(graph: Graph) -> Graph:
    fresh = count()
    values: dict[int, Value] = {}

    def number(value: Value) -> Value:
        values[value.id] = Value(next(fresh), value.spec)
        return values[value.id]

    inputs = tuple(map(number, graph.inputs))
    nodes = []
    for node in graph.nodes:
        args = tuple(_renamed(argument, values) for argument in node.args)
        kwargs = {name: _renamed(argument, values) for name, argument in sorted(node.kwargs.items())}
        body = None if node.body is None else _canonical(node.body)
        nodes.append(Node(node.op, args, kwargs, tuple(map(number, node.outputs)), None, body))
    return Graph(inputs, nodes, tuple(values[value.id] for value in graph.outputs))


def _renamed(argument: Argument, values: Mapping[int, Value]) -> Argument:
    if isinstance(argument, Value):
        return values[argument.id]
    if isinstance(argument, tuple):
        return tuple(_renamed(item, values) for item in argument)
    return argument
