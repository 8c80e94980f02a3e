"""What a graph's values are by eager execution, node by node."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from lazycore_plugin_api import Graph, HostArray, Node, Value

from lazycore.compiler.protocols import RunEager
from lazycore.compiler.ssa import distinct_inputs

__all__ = ["Values", "evaluate"]

Values = Mapping[int, HostArray]
"""Value id -> content."""


def _same(_value: Value, array: HostArray) -> HostArray:
    return array


def evaluate(
    graph: Graph,
    inputs: Sequence[HostArray],
    run_eager: RunEager,
    after: Callable[[Value, HostArray], HostArray] = _same,
) -> Values:
    """Every value of the graph, from one array per input. ``after`` may change each value as soon as it is known, for
    all that read it. Raises what ``run_eager`` raises."""
    known: dict[int, HostArray] = {v.id: a for v, a in zip(graph.inputs, inputs, strict=True)}
    for node in graph.nodes:
        results = _run(node, known, run_eager, after)
        known.update((v.id, after(v, r)) for v, r in zip(node.outputs, results, strict=True))
    return known


def _run(
    node: Node, known: Values, run_eager: RunEager, after: Callable[[Value, HostArray], HostArray]
) -> Sequence[HostArray]:
    if node.body is None:
        return run_eager(node, [known[v.id] for v in distinct_inputs(node)])
    inner = evaluate(node.body, [known[v.id] for v in node.inputs()], run_eager, after)
    return [inner[v.id] for v in node.body.outputs]
