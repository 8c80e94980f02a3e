"""The graph as text, one node a line: what a person reads and a test compares."""

from __future__ import annotations

from lazycore_plugin_api.dims import Dim
from lazycore_plugin_api.dtypes import DType
from lazycore_plugin_api.ir import Argument, Graph, Node, Segment, Value

__all__ = ["argument_text", "node_text", "to_text"]


def argument_text(argument: Argument) -> str:
    """One argument: ``%3``, ``[1, 2]``, ``[4*n, 2]``, ``f32``, ``'none'``, ``1.0``."""
    if isinstance(argument, Value):
        return str(argument)
    if isinstance(argument, DType):
        return argument.short
    if isinstance(argument, tuple):
        return "[" + ", ".join(map(argument_text, argument)) + "]"
    return str(argument) if isinstance(argument, Dim) else repr(argument)


def node_text(node: Node) -> str:
    """One node: ``%3: f32[4] = aten.add.Tensor(%1, %2, alpha=1)  # train.py:12``. A body is not part of it."""
    results = ", ".join(f"{v}: {v.spec}" for v in node.outputs)
    arguments = [argument_text(a) for a in node.args]
    arguments += [f"{k}={argument_text(a)}" for k, a in node.kwargs.items()]
    where = f"  # {node.source}" if node.source else ""
    return f"{results} = {node.op}({', '.join(arguments)}){where}"


def _input_text(graph: Graph, position: int, value: Value) -> str:
    marks = []
    if isinstance(graph, Segment):
        marks += ["scalar"] if position in graph.scalars else []
        marks += ["donatable"] if position in graph.donatable else []
        marks += ["constant"] if position in graph.constants else []
    return f"{value}: {value.spec}" + "".join(f" {m}" for m in marks)


def to_text(graph: Graph) -> str:
    """The whole graph; a segment's inputs carry their marks, a composite's body follows it."""
    return "\n".join(_lines(graph, graph.name if isinstance(graph, Segment) else "graph"))


def _lines(graph: Graph, name: str) -> list[str]:
    inputs = ", ".join(_input_text(graph, i, v) for i, v in enumerate(graph.inputs))
    lines = [f"{name}({inputs}) {{"]
    for node in graph.nodes:
        lines.append("  " + node_text(node))
        if node.body is not None:
            lines += ["    " + line for line in _lines(node.body, "body")]
    return [*lines, f"  return {', '.join(map(str, graph.outputs))}", "}"]
