"""From a row of the table to a segment of one node, with its inputs."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

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
    drawn = _Drawn(row, dtype)
    args, kwargs = _bound(row, drawn.convert)
    specs = _specs(Node(row.op, args, kwargs), drawn, measure)
    if specs is None:
        return None
    node = Node(row.op, args, kwargs, drawn.outputs(specs))
    segment = Segment(tuple(drawn.values), [node], node.outputs, name=f"{row.op} {dtype.value}")
    verify(segment)
    return Sample(segment, tuple(drawn.arrays), row.vague)


class _Drawn:
    """The inputs that a row's draws become, in the order in which they are met."""

    def __init__(self, row: Row, dtype: DType) -> None:
        self.dtype = dtype
        self.values: list[Value] = []
        self.arrays: list[HostArray] = []
        self._op = row.op

    def convert(self, item: Any) -> Argument:
        """What stands for an item of a row in a node."""
        if isinstance(item, Draw):
            array = draw(item, self.dtype, f"{self._op} {len(self.values)}")
            self.values.append(Value(len(self.values), TensorSpec(tuple(array.shape), DType.of(array.dtype))))
            self.arrays.append(array)
            return self.values[-1]
        if isinstance(item, list | tuple):
            return tuple(self.convert(part) for part in item)
        literal: Argument = self.dtype if item is T else item
        return literal

    def outputs(self, specs: Sequence[TensorSpec]) -> tuple[Value, ...]:
        """Values of these specs, numbered behind the inputs."""
        return tuple(Value(len(self.values) + i, spec) for i, spec in enumerate(specs))


def _specs(node: Node, drawn: _Drawn, measure: Measure) -> Sequence[TensorSpec] | None:
    """What the node yields: by the opset, else measured; None where it is not to be had."""
    try:
        specs = infer(node)
    except InvalidGraph:
        return None
    known = [spec for spec in specs if spec is not None]
    if len(known) == len(specs):
        return known
    unmeasured = replace(node, outputs=drawn.outputs([TensorSpec((0,), drawn.dtype)] * len(specs)))
    return measure(unmeasured, drawn.arrays)


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
