"""From a row of the table to a segment of one node, with its inputs."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from lazycore_plugin_api import Argument, DType, HostArray, InvalidGraph, Node, Segment, TensorSpec, Value, verify
from lazycore_plugin_api.opset import OPSET, Parameter, infer

from lazycore.conformance.graph.draw import Draw, T, draw
from lazycore.conformance.graph.row import Row

__all__ = ["Sample", "sample_of"]


@dataclass(frozen=True)
class Sample:
    """A segment with its arguments; ``vague``: outputs that are compared by shape and dtype only."""

    segment: Segment
    arrays: tuple[HostArray, ...]
    vague: tuple[int, ...] = ()

    @property
    def node(self) -> Node:
        """The one node, or the first."""
        return self.segment.nodes[0]


Measure: TypeAlias = Callable[[Node, Sequence[HostArray]], Sequence[TensorSpec] | None]


def sample_of(row: Row, dtype: DType, measure: Measure) -> Sample | None:
    """The row in one dtype, None where the op does not take it. ``measure``: what a node yields, asked where the opset
    leaves it open; it gets the node's distinct inputs, and may return None."""
    inputs: list[tuple[Value, HostArray]] = []

    def convert(item: Any) -> Argument:
        if isinstance(item, Draw):
            array = draw(item, dtype, f"{row.op} {len(inputs)}")
            value = Value(len(inputs), TensorSpec(tuple(array.shape), DType.of(array.dtype)))
            inputs.append((value, array))
            return value
        if item is T:
            return dtype
        if isinstance(item, list | tuple):
            return tuple(convert(part) for part in item)
        literal: Argument = item
        return literal

    args, kwargs = _bound(row, convert)
    node = Node(row.op, args, kwargs)
    try:
        specs = infer(node)
    except InvalidGraph:
        return None
    known = [spec for spec in specs if spec is not None]
    if len(known) < len(specs):
        placeholder = TensorSpec((0,), dtype)
        unmeasured = Node(row.op, args, kwargs, tuple(Value(len(inputs) + i, placeholder) for i in range(len(specs))))
        measured = measure(unmeasured, [array for _, array in inputs])
        if measured is None:
            return None
        known = list(measured)
    outputs = tuple(Value(len(inputs) + i, spec) for i, spec in enumerate(known))
    node = Node(row.op, args, kwargs, outputs)
    segment = Segment(tuple(v for v, _ in inputs), [node], outputs, name=f"{row.op} {dtype.value}")
    verify(segment)
    return Sample(segment, tuple(np.array(a) for _, a in inputs), row.vague)


def _bound(row: Row, convert: Callable[[Any], Argument]) -> tuple[tuple[Argument, ...], dict[str, Argument]]:
    """All arguments of the schema, defaults filled in. Raises TypeError for a row that lacks one."""
    schema = OPSET[row.op].schema
    assert schema is not None, row.op
    args: list[Argument] = []
    kwargs: dict[str, Argument] = {}
    given = list(row.args)
    for parameter in schema.parameters:
        if parameter.name in row.kwargs:
            content = convert(row.kwargs[parameter.name])
        elif not parameter.keyword and given:
            content = convert(given.pop(0))
        elif parameter.required:
            raise TypeError(f"a row of {row.op} lacks {parameter.name}")
        else:
            content = _listed(parameter)
        if parameter.keyword:
            kwargs[parameter.name] = content
        else:
            args.append(content)
    if given:
        raise TypeError(f"a row of {row.op} has {len(given)} arguments too many")
    return tuple(args), kwargs


def _listed(parameter: Parameter) -> Argument:
    """The default as the core writes it: where one item may stand for a list, the list."""
    default: Argument = parameter.default
    size = re.search(r"\[(\d+)\]", parameter.kind.text)
    return (default,) * int(size[1]) if size and isinstance(default, int) else default
