"""Composites taken apart again, and results that composing never changes."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from lazycore_plugin_api import Graph, Pattern, verify
from lazycore_plugin_api.patterns import Any, Op, Optional
from plan_fakes.backends import FakeBackend
from plan_fakes.builder import Builder
from plan_fakes.interpreter import interpret
from plan_fakes.random_graphs import Program, programs

from lazycore.compiler.annotate import Annotator
from lazycore.compiler.patterns import compose, dissolve

ADD, MUL, NEG, RELU, SQUARE = (
    "aten.add.Tensor", "aten.mul.Tensor", "aten.neg.default", "aten.relu.default", "aten.square.default",
)  # fmt: skip
UNARY = (NEG, RELU, SQUARE)
PATTERNS = (
    Pattern("chain", Op(UNARY, (Op(UNARY, (Op(UNARY, (Any("x"),)),)),))),
    Pattern("loose", Op((ADD, MUL), (Op(UNARY, (Any("x"),), escapes=True), Any("y")), commutative=True)),
    Pattern("tail", Optional(Op(RELU, (Op(ADD, (Any("x"), Any("y"))),)))),
    Pattern("pair", (Op(NEG, (Any("x"),)), Op(RELU, (Any("x"),))), priority=1),
    Pattern("sum", Op(ADD, (Op(MUL), Op(MUL)))),
)


def composed(graph: Graph, patterns: tuple[Pattern, ...]) -> Graph:
    result, _ = compose(graph, Annotator([FakeBackend("v", ops=())]), 0, patterns, frozenset())
    return result


def arrays(program: Program) -> list[np.ndarray]:
    inputs = program.graph.inputs
    return [np.linspace(-1, 2, v.spec.numel).reshape(v.spec.static_shape) * (i + 1) for i, v in enumerate(inputs)]


@settings(deadline=None)
@given(programs(max_nodes=18), st.sets(st.integers(0, len(PATTERNS) - 1), min_size=1), st.data())
def test_composing_and_taking_apart_keep_results(program: Program, chosen: set[int], data: st.DataObject) -> None:
    expected = interpret(program.graph, arrays(program))
    graph = composed(program.graph, tuple(PATTERNS[i] for i in sorted(chosen)))
    verify(graph)
    np.testing.assert_equal(interpret(graph, arrays(program)), expected)
    unwanted = {id(n) for n in graph.nodes if n.body is not None and data.draw(st.booleans())}
    apart = dissolve(graph, lambda node: id(node) in unwanted)
    verify(apart)
    assert sum(n.body is not None for n in apart.nodes) == sum(n.body is not None for n in graph.nodes) - len(unwanted)
    np.testing.assert_equal(interpret(apart, arrays(program)), expected)


def test_patterns_do_match_in_random_graphs() -> None:
    """The property above would hold of a matcher that never matches."""
    b = Builder()
    x, y = b.input(), b.input()
    graph = b.graph(
        b.neg(b.relu(b.square(x))), b.add(b.square(x), y), b.relu(b.add(x, y)), b.relu(x),
        b.add(b.mul(x, y), b.mul(y, y)),
    )  # fmt: skip
    for pattern in PATTERNS[:3] + PATTERNS[4:]:
        assert any(n.op == f"v.{pattern.name}.composite" for n in composed(graph, (pattern,)).nodes), pattern.name


def test_nodes_that_read_from_a_composite_stay_the_very_same() -> None:
    b = Builder()
    r = b.relu(b.neg(b.input()))
    b.square(r)
    graph = composed(b.graph(b.nodes[-1].outputs[0]), (Pattern("p", Op(RELU, (Op(NEG, (Any("x"),)),))),))
    apart = dissolve(graph, lambda _: True)
    assert [n.op for n in apart.nodes] == [NEG, RELU, SQUARE]
    assert apart.nodes[2] is graph.nodes[1]


def test_a_body_is_made_legal_before_it_is_inlined() -> None:
    b = Builder()
    graph = composed(b.graph(b.relu(b.square(b.input()))), (Pattern("p", Op(RELU, (Op(SQUARE, (Any("x"),)),))),))

    def legal(_body: Graph) -> Graph:
        inner = Builder()
        x = inner.input()
        return inner.graph(inner.relu(inner.mul(x, x)))

    apart = dissolve(graph, lambda _: True, legal)
    verify(apart)
    assert [n.op for n in apart.nodes] == [MUL, RELU]
    np.testing.assert_equal(interpret(apart, [np.array([1.0, -2.0, 3.0])]), [np.array([1.0, 4.0, 9.0])])


def test_a_body_that_hands_out_its_input() -> None:
    b = Builder()
    x = b.input()
    graph = composed(b.graph(b.neg(b.relu(b.square(x)))), (Pattern("p", Op(RELU, (Op(SQUARE, (Any("x"),)),))),))

    def legal(body: Graph) -> Graph:
        return Graph(body.inputs, [], body.inputs)

    apart = dissolve(graph, lambda _: True, legal)
    verify(apart)
    assert [(n.op, n.args) for n in apart.nodes] == [(NEG, (x,))]
