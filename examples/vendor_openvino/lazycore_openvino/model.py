"""From a segment to an OpenVINO model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import openvino
import openvino.opset15 as op
from lazycore_plugin_api import Argument, Node, Segment, Value

from lazycore_openvino.composites import COMPOSITES
from lazycore_openvino.constants import folded
from lazycore_openvino.lowerings import LOWERINGS, Context
from lazycore_openvino.program import carrier


def build(segment: Segment, finite: bool) -> openvino.Model:
    """Parameters for the arguments, constants for what is bound, a result per output."""
    values: dict[int, Any] = {}
    parameters = []
    for value in segment.arguments:
        parameter = op.parameter(list(value.spec.static_shape), openvino.Type(carrier(value.spec.dtype)))
        parameters.append(parameter)
        values[value.id] = parameter.output(0)
    for position, array in segment.constants.items():
        values[segment.inputs[position].id] = op.constant(array).output(0)
    ready = {id(node) for node in folded(segment)}
    for node in segment.nodes:
        results = _lower(node, values, Context(node, finite, id(node) in ready))
        values.update((v.id, r) for v, r in zip(node.outputs, results, strict=False))
    # A result of its own for each output, since two of them may be one value.
    return openvino.Model([op.result(values[v.id]) for v in segment.outputs], parameters)


def _lower(node: Node, values: dict[int, Any], context: Context) -> Sequence[Any]:
    lower = LOWERINGS[node.op].lower if node.body is None else COMPOSITES[node.op.split(".")[1]]
    args = [_read(a, values) for a in node.args]
    results = lower(context, *args, **{name: _read(a, values) for name, a in node.kwargs.items()})
    results = results if isinstance(results, (tuple, list)) else (results,)
    return [r.output(0) if isinstance(r, openvino.Node) else r for r in results]


def _read(argument: Argument, values: dict[int, Any]) -> Any:
    if isinstance(argument, Value):
        return values[argument.id]
    return [_read(a, values) for a in argument] if isinstance(argument, tuple) else argument
