"""Decompositions are used where every piece is taken, and only there."""

from __future__ import annotations

import numpy as np
import pytest
from lazycore_plugin_api import DType, Graph, InvalidGraph, Node, TensorSpec, verify
from plan_fakes.backends import FakeBackend
from plan_fakes.builder import Builder, never, square_as_mul
from plan_fakes.interpreter import interpret

from lazycore.compiler.annotate import Annotator
from lazycore.compiler.legalize import legalize

MUL, NEG, SQUARE = "aten.mul.Tensor", "aten.neg.default", "aten.square.default"


def _square_chain() -> Graph:
    b = Builder()
    return b.graph(b.neg(b.square(b.square(b.input()))))


def _legal(graph: Graph, ops: tuple[str, ...], decompose: object = square_as_mul) -> list[str]:
    result = legalize(graph, Annotator([FakeBackend("fake", ops)]), decompose)
    verify(result)
    x = [np.array([1.0, -2.0, 0.5])]
    np.testing.assert_array_equal(interpret(result, x), interpret(graph, x))
    return [node.op for node in result.nodes]


def test_pieces_replace_what_nobody_takes() -> None:
    assert _legal(_square_chain(), (MUL, NEG)) == [MUL, MUL, NEG]


def test_what_somebody_takes_stays() -> None:
    assert _legal(_square_chain(), (MUL, NEG, SQUARE)) == [SQUARE, SQUARE, NEG]


def test_a_decomposition_into_what_nobody_takes_is_refused() -> None:
    assert _legal(_square_chain(), (NEG,)) == [SQUARE, SQUARE, NEG]


def test_without_a_decomposition_the_node_stays() -> None:
    assert _legal(_square_chain(), (MUL, NEG), never) == [SQUARE, SQUARE, NEG]


def test_the_rest_of_the_graph_keeps_its_nodes() -> None:
    graph = _square_chain()
    result = legalize(graph, Annotator([FakeBackend("fake", (SQUARE, NEG))]), never)
    assert all(a is b for a, b in zip(result.nodes, graph.nodes, strict=True))


def test_pieces_carry_the_line_of_their_node() -> None:
    graph = _square_chain()
    result = legalize(graph, Annotator([FakeBackend("fake", (MUL, NEG))]), square_as_mul)
    assert [n.source for n in result.nodes] == [n.source for n in graph.nodes]


def test_pieces_are_decomposed_again() -> None:
    def decompose(node: Node) -> Graph | None:
        b = Builder()
        x = b.input()
        if node.op == NEG:
            return b.graph(b.square(x))
        return square_as_mul(node)

    b = Builder()
    graph = b.graph(b.neg(b.input()))
    result = legalize(graph, Annotator([FakeBackend("fake", (MUL,))]), decompose)
    assert [n.op for n in result.nodes] == [MUL]


def test_a_decomposition_into_itself_comes_to_an_end() -> None:
    def into_itself(node: Node) -> Graph | None:  # noqa: ARG001
        b = Builder()
        return b.graph(b.square(b.input()))

    assert _legal(_square_chain(), (NEG,), into_itself) == [SQUARE, SQUARE, NEG]


def test_a_decomposition_may_return_its_input_or_one_value_twice() -> None:
    def decompose(node: Node) -> Graph | None:
        b = Builder()
        x = b.input()
        if node.op == "aten.clone.default":
            return b.graph(x)
        y = b.mul(x, x)
        return b.graph(y, y) if node.op == "lib.twice.default" else None

    b = Builder()
    copy = b.op("aten.clone.default", b.input())
    first, second = b.ops("lib.twice.default", copy, specs=(copy.spec, copy.spec))
    graph = b.graph(b.op(MUL, first, second), copy)
    result = legalize(graph, Annotator([FakeBackend("fake", (MUL,))]), decompose)
    verify(result)
    assert [n.op for n in result.nodes] == [MUL, MUL]
    assert result.outputs[1] == graph.inputs[0]
    np.testing.assert_array_equal(interpret(result, [np.array([1.0, 2, 3])])[0], [1, 16, 81])


def test_a_decomposition_of_another_dtype_is_refused() -> None:
    def narrow(node: Node) -> Graph | None:  # noqa: ARG001
        b = Builder()
        spec = TensorSpec((3,), DType.float32)
        return b.graph(b.op("aten._to_copy.default", b.input(), dtype=DType.float32, spec=spec))

    b = Builder()
    graph = b.graph(b.square(b.input()))
    result = legalize(graph, Annotator([FakeBackend("fake", ("aten._to_copy.default",))]), narrow)
    assert result.nodes == graph.nodes


def test_a_decomposition_that_is_no_graph_is_an_error() -> None:
    def broken(node: Node) -> Graph | None:  # noqa: ARG001
        b = Builder()
        x, stray = b.input(), b.value(TensorSpec((3,), DType.float64))
        return b.graph(b.mul(x, stray))

    with pytest.raises(InvalidGraph):
        legalize(_square_chain(), Annotator([FakeBackend("fake", (MUL,))]), broken)


def test_dead_pieces_do_not_count() -> None:
    def wasteful(node: Node) -> Graph | None:
        if node.op != SQUARE:
            return None
        b = Builder()
        x = b.input()
        b.relu(x)
        return b.graph(b.mul(x, x))

    assert _legal(_square_chain(), (MUL, NEG), wasteful) == [MUL, MUL, NEG]
