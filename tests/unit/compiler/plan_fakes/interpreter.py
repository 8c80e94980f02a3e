"""A handful of ops over NumPy: what fake backends compile and what results are compared with."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from lazycore_plugin_api import Argument, Graph, HostArray, Node, Value

Environment = dict[int, HostArray]


def _sorted(x: HostArray, dim: int, descending: bool) -> tuple[HostArray, HostArray]:
    order = np.argsort(-x if descending else x, axis=dim, kind="stable")
    return np.take_along_axis(x, order, axis=dim), order


OPS: dict[str, Callable[..., Any]] = {
    "aten.add.Tensor": lambda x, y, alpha: x + y * alpha,
    "aten.mul.Tensor": lambda x, y: x * y,
    "aten.neg.default": lambda x: -x,
    "aten.relu.default": lambda x: np.maximum(x, 0),
    "aten.square.default": lambda x: x * x,
    "aten.clone.default": lambda x: x.copy(),
    "aten.sort.default": _sorted,
    "aten.scalar_tensor.default": lambda x, dtype: np.asarray(x, dtype.numpy),
    "aten._to_copy.default": lambda x, dtype: x.astype(dtype.numpy),
}


def evaluate(node: Node, values: Environment) -> tuple[HostArray, ...]:
    """One node's outputs; a composite's by its body."""
    if node.body is not None:
        return tuple(interpret(node.body, [values[v.id] for v in node.inputs()]))
    args = [_argument(a, values) for a in node.args]
    result = OPS[node.op](*args, **{k: _argument(a, values) for k, a in node.kwargs.items()})
    return result if isinstance(result, tuple) else (np.asarray(result),)


def interpret(graph: Graph, inputs: Sequence[HostArray]) -> list[HostArray]:
    """The whole graph, node by node."""
    values: Environment = {v.id: array for v, array in zip(graph.inputs, inputs, strict=True)}
    for node in graph.nodes:
        values |= {v.id: array for v, array in zip(node.outputs, evaluate(node, values), strict=True)}
    return [values[v.id] for v in graph.outputs]


def run_eager(node: Node, arrays: Sequence[HostArray]) -> Sequence[HostArray]:
    """The compiler's ``RunEager``."""
    distinct = {v.id: v for v in node.inputs()}
    return evaluate(node, dict(zip(distinct, arrays, strict=True)))


def _argument(argument: Argument, values: Environment) -> Any:
    if isinstance(argument, Value):
        return values[argument.id]
    return tuple(_argument(a, values) for a in argument) if isinstance(argument, tuple) else argument
