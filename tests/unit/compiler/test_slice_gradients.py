"""Sums of slices' gradients: the same values, in one concatenation."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lazycore_plugin_api import DType, Graph, Node, TensorSpec, Value, verify

from lazycore.compiler.rewrites import drop_dead_nodes
from lazycore.compiler.slice_gradients import ADD, SELECT, SLICE, concatenate_slice_gradients
from lazycore.frontend.eager import run_eager

SIZE = 8


class Builder:
    """A graph of gradients of a (3, SIZE) tensor."""

    def __init__(self) -> None:
        self.inputs: list[Value] = []
        self.nodes: list[Node] = []

    def value(self, *shape: int) -> Value:
        return Value(100 + len(self.inputs) + 1000 * len(self.nodes), TensorSpec(shape, DType.float32))

    def input(self, *shape: int) -> Value:
        self.inputs.append(self.value(*shape))
        return self.inputs[-1]

    def node(self, op: str, *args: object, **kwargs: object) -> Value:
        out = Value(len(self.nodes), TensorSpec((3, SIZE), DType.float32))
        self.nodes.append(Node(op, args, kwargs, (out,)))  # type: ignore[arg-type]
        return out

    def part(self, begin: int, end: int) -> Value:
        return self.node(SLICE, self.input(3, end - begin), (3, SIZE), 1, begin, end, 1)

    def row(self, index: int) -> Value:
        return self.node(SELECT, self.input(SIZE), (3, SIZE), 0, index)

    def sum(self, *values: Value) -> Value:
        total = values[0]
        for value in values[1:]:
            total = self.node(ADD, total, value, alpha=1)
        return total

    def graph(self, *outputs: Value) -> Graph:
        return Graph(tuple(self.inputs), self.nodes, outputs)


def evaluate(graph: Graph) -> list[np.ndarray]:
    """Each node by PyTorch, on random inputs that depend on the position only."""
    random = np.random.default_rng(0)
    known = {v.id: random.standard_normal(v.spec.static_shape, np.float32) for v in graph.inputs}
    for node in graph.nodes:
        distinct = {v.id: known[v.id] for v in node.inputs()}
        for value, array in zip(node.outputs, run_eager(node, list(distinct.values())), strict=True):
            known[value.id] = array
    return [known[v.id] for v in graph.outputs]


def rewritten(graph: Graph) -> Graph:
    verify(graph)
    after = drop_dead_nodes(concatenate_slice_gradients(graph))
    verify(after)
    for before, now in zip(evaluate(graph), evaluate(after), strict=True):
        np.testing.assert_array_equal(before, now)
    return after


def ops(graph: Graph) -> list[str]:
    return [node.op for node in graph.nodes]


def test_full_cover_is_one_concatenation() -> None:
    b = Builder()
    after = rewritten(b.graph(b.sum(b.part(0, 2), b.part(2, 6), b.part(6, 8))))
    assert ops(after) == ["aten.cat.default"]


def test_gaps_are_zeros() -> None:
    b = Builder()
    after = rewritten(b.graph(b.sum(b.part(5, 6), b.part(1, 3))))
    assert sorted(ops(after)) == ["aten.cat.default"] + ["aten.full.default"] * 3


def test_selected_rows_are_views() -> None:
    b = Builder()
    after = rewritten(b.graph(b.sum(b.row(2), b.row(0), b.row(-2))))
    assert sorted(set(ops(after))) == ["aten.cat.default", "aten.view.default"]


def test_what_else_is_added_stays() -> None:
    b = Builder()
    other = b.input(3, SIZE)
    after = rewritten(b.graph(b.sum(b.part(0, 4), other, b.part(4, 8))))
    assert sorted(ops(after)) == [ADD, "aten.cat.default"]


def test_overlapping_parts_are_added() -> None:
    b = Builder()
    after = rewritten(b.graph(b.sum(b.part(0, 5), b.part(3, 8))))
    assert ops(after).count(ADD) == 1
    assert "aten.cat.default" not in ops(after)


def test_a_part_used_elsewhere_stays_whole() -> None:
    b = Builder()
    shared = b.part(0, 4)
    after = rewritten(b.graph(b.sum(shared, b.part(4, 8)), shared))
    assert ops(after).count(SLICE) == 2


def test_a_scaled_sum_is_left_alone() -> None:
    b = Builder()
    total = b.node(ADD, b.part(0, 4), b.part(4, 8), alpha=2)
    assert ops(rewritten(b.graph(total))) == [SLICE, SLICE, ADD]


@pytest.mark.parametrize("keep_inner", [False, True])
def test_an_inner_sum_that_is_handed_out_is_computed(keep_inner: bool) -> None:
    b = Builder()
    inner = b.sum(b.part(0, 2), b.part(2, 4))
    total = b.sum(inner, b.part(4, 8))
    after = rewritten(b.graph(total, inner) if keep_inner else b.graph(total))
    assert ops(after).count("aten.cat.default") == 1


@given(st.lists(st.tuples(st.integers(0, SIZE - 1), st.integers(1, SIZE)), min_size=1, max_size=6))
def test_any_parts(ranges: list[tuple[int, int]]) -> None:
    b = Builder()
    parts = [b.part(begin, min(begin + length, SIZE)) for begin, length in ranges]
    graph = b.graph(b.sum(*parts))
    verify(graph)
    after = concatenate_slice_gradients(graph)
    verify(after)
    np.testing.assert_allclose(evaluate(after)[0], evaluate(graph)[0], rtol=1e-6, atol=1e-6)
