"""A segment as a list of NumPy calls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from lazycore_plugin_api import (
    Argument,
    BackendError,
    Buffer,
    DType,
    Executable,
    HostArray,
    HostBuffer,
    Node,
    OutOfMemory,
    Segment,
    TensorSpec,
    Value,
    to_json,
)

from lazycore_reference.registry import Array, Entry, find

__all__ = ["ReferenceExecutable", "serialized"]

NARROW = frozenset({DType.float16, DType.bfloat16, DType.float8_e4m3fn, DType.float8_e5m2})
"""Floats that are computed in float32 and rounded once."""


@dataclass(frozen=True)
class Slot:
    """Where an argument lies among the live arrays."""

    index: int
    widen: bool


@dataclass(frozen=True)
class Step:
    """One node, ready to be called."""

    node: Node
    entry: Entry
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]
    outputs: tuple[tuple[int, TensorSpec], ...]
    dead: tuple[int, ...]


class ReferenceExecutable(Executable):
    """Runs a segment node by node; an intermediate is freed after its last reader."""

    def __init__(self, segment: Segment) -> None:
        self._segment = segment
        self._slots = _number(segment)
        self._inputs = [self._slots[v.id] for v in segment.arguments]
        self._constants = [(self._slots[segment.inputs[p].id], array) for p, array in segment.constants.items()]
        self._outputs = [self._slots[v.id] for v in segment.outputs]
        dead = _last_uses(segment)
        self._steps = [_prepare(node, self._slots, dead[i]) for i, node in enumerate(segment.nodes)]

    def run(self, inputs: Sequence[Buffer | HostArray]) -> Sequence[Buffer]:
        """The outputs as buffers of their own. Raises BackendError, naming op and line, where a node fails."""
        live: list[Any] = [None] * len(self._slots)
        for slot, value in zip(self._inputs, inputs, strict=True):
            live[slot] = value.to_host() if isinstance(value, Buffer) else value
        for slot, array in self._constants:
            live[slot] = array
        bound = [live[slot] for slot in (*self._inputs, *(slot for slot, _ in self._constants))]
        with np.errstate(all="ignore"):
            for step in self._steps:
                _execute(step, live)
        return _own([live[slot] for slot in self._outputs], bound)

    def serialize(self) -> bytes | None:
        return serialized(self._segment)


def serialized(segment: Segment) -> bytes | None:
    """The segment itself: planning it again costs nothing. None with bound constants, which its text lacks.

    Without lines: another program may load it, and its errors must not name this one's."""
    if segment.constants:
        return None
    return to_json(replace(segment, nodes=[_without_source(node) for node in segment.nodes])).encode()


def _without_source(node: Node) -> Node:
    body = node.body and replace(node.body, nodes=[_without_source(inner) for inner in node.body.nodes])
    return replace(node, source=None, body=body)


def _number(segment: Segment) -> dict[int, int]:
    values = [*segment.inputs, *(v for node in segment.nodes for v in node.outputs)]
    return {value.id: slot for slot, value in enumerate(values)}


def _last_uses(segment: Segment) -> list[list[int]]:
    """Per node, the ids of the values that nobody reads after it."""
    dead: list[list[int]] = [[] for _ in segment.nodes]
    seen = {v.id for v in (*segment.outputs, *segment.inputs)}
    for i in range(len(segment.nodes) - 1, -1, -1):
        node = segment.nodes[i]
        for value in (*node.inputs(), *node.outputs):
            if value.id not in seen:
                seen.add(value.id)
                dead[i].append(value.id)
    return dead


def _prepare(node: Node, slots: dict[int, int], dead: list[int]) -> Step:
    entry = find(node.op)
    args = tuple(_place(a, slots, entry.raw) for a in node.args)
    kwargs = {name: _place(a, slots, entry.raw) for name, a in node.kwargs.items()}
    if entry.specs:
        kwargs["specs"] = tuple(v.spec for v in node.outputs)
    outputs = tuple((slots[v.id], v.spec) for v in node.outputs)
    return Step(node, entry, args, kwargs, outputs, tuple(slots[i] for i in dead))


def _place(argument: Argument, slots: dict[int, int], raw: bool) -> Any:
    if isinstance(argument, Value):
        return Slot(slots[argument.id], not raw and argument.spec.dtype in NARROW)
    if isinstance(argument, tuple):
        return tuple(_place(item, slots, raw) for item in argument)
    return argument


def _fetch(argument: Any, live: list[Any]) -> Any:
    if isinstance(argument, Slot):
        array = live[argument.index]
        return array.astype(np.float32) if argument.widen else array
    if isinstance(argument, tuple):
        return tuple(_fetch(item, live) for item in argument)
    return argument


def _execute(step: Step, live: list[Any]) -> None:
    try:
        args = [_fetch(a, live) for a in step.args]
        kwargs = {name: _fetch(a, live) for name, a in step.kwargs.items()}
        results = step.entry.function(*args, **kwargs)
        if not isinstance(results, tuple):
            results = (results,)
        for (slot, spec), result in zip(step.outputs, results, strict=True):
            live[slot] = _conform(result, spec)
    except Exception as error:
        where = f" at {step.node.source}" if step.node.source else ""
        kind = OutOfMemory if isinstance(error, MemoryError) else BackendError
        raise kind(f"reference: {step.node.op}{where}: {type(error).__name__}: {error}") from error
    for slot in step.dead:
        live[slot] = None


def _conform(result: Any, spec: TensorSpec) -> Array:
    """The result in its declared dtype; zeros for one that was not asked for."""
    if result is None:
        return np.zeros(spec.static_shape, spec.dtype.numpy)
    array = np.asarray(result)
    if array.shape != spec.shape:
        raise ValueError(f"the result has shape {array.shape}, declared is {spec}")
    return array if array.dtype == spec.dtype.numpy else array.astype(spec.dtype.numpy)


def _own(outputs: list[Array], inputs: list[Array]) -> list[Buffer]:
    """Buffers of their own: views, inputs and repeated arrays are copied, here and nowhere else."""
    taken = {id(array) for array in inputs}
    buffers: list[Buffer] = []
    for array in outputs:
        own = array.base is None and array.flags.c_contiguous and array.flags.owndata and id(array) not in taken
        dense = array if own else np.array(array, order="C", copy=True)
        taken.add(id(dense))
        buffers.append(HostBuffer(dense))
    return buffers
