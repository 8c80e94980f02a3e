"""Backend-neutral rewrites of the whole graph: a list of passes, each a function from graph to graph.

Values that the trace hands out become storages of their own, so no pass merges two graph outputs into one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from lazycore_plugin_api import Graph, Node, Value, verify

from lazycore.compiler.duplicates import merge_duplicates
from lazycore.compiler.slice_gradients import concatenate_slice_gradients
from lazycore.compiler.ssa import rewire

__all__ = ["PASSES", "Pass", "drop_dead_nodes", "drop_idle_casts", "rewrite"]

Pass: TypeAlias = Callable[[Graph], Graph]

CAST = "aten._to_copy.default"


def drop_dead_nodes(graph: Graph) -> Graph:
    """Leave out nodes of which nothing reaches an output. Inputs stay: their positions are the caller's."""
    needed = {value.id for value in graph.outputs}
    kept: list[Node] = []
    for node in reversed(graph.nodes):
        if any(out.id in needed for out in node.outputs):
            kept.append(node)
            needed.update(value.id for value in node.inputs())
    return Graph(graph.inputs, kept[::-1], graph.outputs)


def drop_idle_casts(graph: Graph) -> Graph:
    """Leave out casts to the dtype that their operand has, except those that write a graph output."""
    handed_out = {value.id for value in graph.outputs}
    instead: dict[int, Value] = {}
    kept: list[Node] = []
    for node in graph.nodes:
        node = rewire(node, instead)
        operand = _idle_cast_operand(node)
        if operand is None or node.outputs[0].id in handed_out:
            kept.append(node)
        else:
            instead[node.outputs[0].id] = operand
    return Graph(graph.inputs, kept, graph.outputs)


def _idle_cast_operand(node: Node) -> Value | None:
    if node.op != CAST:
        return None
    operand = node.args[0]
    return operand if isinstance(operand, Value) and operand.spec == node.outputs[0].spec else None


PASSES: tuple[Pass, ...] = (drop_idle_casts, concatenate_slice_gradients, drop_dead_nodes, merge_duplicates)


def rewrite(graph: Graph, passes: tuple[Pass, ...] = PASSES) -> Graph:
    """All passes in order, the result of each verified. Raises InvalidGraph where one of them breaks the graph."""
    for run in passes:
        graph = run(graph)
        verify(graph)
    return graph
