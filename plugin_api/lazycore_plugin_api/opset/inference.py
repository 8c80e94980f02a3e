"""The table at work: what a node's outputs must be."""

from __future__ import annotations

from lazycore_plugin_api.dtypes import DType
from lazycore_plugin_api.errors import InvalidGraph
from lazycore_plugin_api.ir import Node
from lazycore_plugin_api.opset.row import OpRow
from lazycore_plugin_api.opset.rule import Call, Sizes, Unfit
from lazycore_plugin_api.opset.table import OPSET
from lazycore_plugin_api.specs import TensorSpec
from lazycore_plugin_api.text import node_text

__all__ = ["fault_of", "infer"]

# Lists of a wrong length, sizes of a wrong type: a rule stumbles over what no kind excludes.
_STUMBLES = (ValueError, IndexError, TypeError, ZeroDivisionError)


def infer(node: Node) -> tuple[TensorSpec | None, ...]:
    """The specs of a node's outputs, by its arguments alone; None for one that the op leaves open or was not asked for.

    Raises InvalidGraph for arguments that the op's schema or its rules do not take, KeyError for an op without rules,
    TypeError where an operand's shape is symbolic.
    """
    row = OPSET[node.op]
    if row.schema is None or row.dtype is None or row.shape is None:
        raise KeyError(node.op)
    for value in node.inputs():
        _ = value.spec.static_shape
    try:
        dtypes, shapes = _apply(row, Call(row.schema.bind(node.args, node.kwargs)))
    except _STUMBLES as error:
        raise InvalidGraph(f"{node_text(node)} {error}") from error
    return tuple(None if s is None or d is None else TensorSpec(s, d) for d, s in zip(dtypes, shapes, strict=True))


def _apply(row: OpRow, call: Call) -> tuple[tuple[DType | None, ...], tuple[Sizes | None, ...]]:
    assert row.dtype is not None
    assert row.shape is not None
    _check_positions(row, call)
    dtypes, shapes = row.dtype.apply(call), row.shape.apply(call)
    return (dtypes * len(shapes) if len(dtypes) == 1 else dtypes), shapes


def _check_positions(row: OpRow, call: Call) -> None:
    for operand in row.index:
        for value in call.values(operand.argument):
            dtype = value.spec.dtype
            if dtype.is_floating or dtype.is_complex:
                raise Unfit(f"has {operand.argument} of {dtype.short}, which are no positions")


def fault_of(node: Node, static: bool) -> str | None:
    """What a node does against its op's row, None if nothing or if there is no row. Its outputs' shapes are looked at
    only where no shape is symbolic: ``static``."""
    row = OPSET.get(node.op)
    if row is None or row.schema is None:
        return None
    results = row.schema.results
    if results is not None and results != len(node.outputs):
        return f"has {len(node.outputs)} outputs where the schema has {results}"
    try:
        return _wrong_output(row, Call(row.schema.bind(node.args, node.kwargs)), node, static)
    except _STUMBLES as error:
        return str(error)


def _wrong_output(row: OpRow, call: Call, node: Node, static: bool) -> str | None:
    assert row.dtype is not None
    assert row.shape is not None
    _check_positions(row, call)
    outputs, dtypes = node.outputs, row.dtype.apply(call)
    # What is not looked at is taken as it is, but for (0,), the place of an output that was not asked for.
    shapes = row.shape.apply(call) if static else [o.spec.shape if o.spec.shape != (0,) else None for o in outputs]
    if len(shapes) != len(outputs):
        return f"has {len(outputs)} outputs, the opset says {len(shapes)}"
    only = dtypes[0] if len(dtypes) == 1 else None
    for i, (output, shape) in enumerate(zip(outputs, shapes, strict=True)):
        spec, dtype = output.spec, only or dtypes[i]
        if shape is not None and spec.shape != shape:
            return f"has output {i} of shape {list(spec.shape)}, the opset says {list(shape)}"
        if shape is not None and dtype is not None and spec.dtype is not dtype:
            return f"has output {i} of {spec.dtype.short}, the opset says {dtype.short}"
    return None
