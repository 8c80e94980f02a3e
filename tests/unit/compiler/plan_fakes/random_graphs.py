"""Random graphs for property tests: any DAG of the interpreter's ops, with numbers among its inputs."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import strategies as st
from lazycore_plugin_api import Graph, Value

from plan_fakes.builder import NUMBER, Builder

UNARY = ("aten.neg.default", "aten.relu.default", "aten.square.default", "aten.clone.default")
BINARY = ("aten.add.Tensor", "aten.mul.Tensor")
ALL = (*UNARY, *BINARY, "aten.sort.default", "number")


@dataclass(frozen=True)
class Program:
    """A graph and which of its inputs are numbers, which may be overwritten."""

    graph: Graph
    scalars: frozenset[int]
    donatable: frozenset[int]


@st.composite
def programs(draw: st.DrawFn, max_nodes: int = 14) -> Program:
    """A graph of up to ``max_nodes`` nodes; any values may be outputs, inputs and repetitions among them."""
    b = Builder()
    vectors = [b.input() for _ in range(draw(st.integers(1, 3)))]
    numbers = [b.input(NUMBER) for _ in range(draw(st.integers(0, 2)))]
    for _ in range(draw(st.integers(0, max_nodes))):
        vectors += _step(draw, b, vectors, numbers)
    outputs = draw(st.lists(st.sampled_from([*vectors, *numbers]), max_size=5))
    count = len(b.inputs) - len(numbers)
    donatable = draw(st.frozensets(st.integers(0, count - 1)))
    return Program(b.graph(*outputs), frozenset(range(count, len(b.inputs))), donatable)


def _step(draw: st.DrawFn, b: Builder, vectors: list[Value], numbers: list[Value]) -> list[Value]:
    # Recent values are likelier, so that chains grow deep enough to cross backends several times.
    vector = st.one_of(st.sampled_from(vectors[-3:]), st.sampled_from(vectors))
    op = draw(st.sampled_from(ALL))
    if op == "aten.sort.default":
        return [b.sort(draw(vector))[0]]
    if op == "number" and numbers:
        return [b.mul(draw(vector), draw(st.sampled_from(numbers)))]
    if op in UNARY:
        return [b.op(op, draw(vector))]
    return [b.add(draw(vector), draw(vector))]
