"""Which matches become composites, what a composite is, and what is kept of the matches that make none."""

from __future__ import annotations

import pytest
from lazycore_plugin_api import DType, Graph, Match, Pattern, Rejected, Supported, verify
from lazycore_plugin_api.patterns import Any, Constant, Op, Optional
from plan_fakes.backends import FakeBackend
from plan_fakes.builder import NUMBER, Builder

from lazycore.compiler.annotate import Annotator
from lazycore.compiler.failures import BackendWarning
from lazycore.compiler.patterns import compose
from lazycore.compiler.placement import LostMatch

ADD, MUL, NEG, RELU = "aten.add.Tensor", "aten.mul.Tensor", "aten.neg.default", "aten.relu.default"
X = Any("x")
NEG_RELU = Pattern("neg_relu", Op(RELU, (Op(NEG, (X,)),)))


def composed(
    graph: Graph, *patterns: Pattern, before: FakeBackend | None = None, bound: frozenset[int] = frozenset()
) -> tuple[Graph, list[LostMatch]]:
    backends = [*([before] if before else []), FakeBackend("v", ops=(), patterns=patterns)]
    result, lost = compose(graph, Annotator(backends), len(backends) - 1, patterns, bound)
    verify(result)
    return result, lost


def ops(graph: Graph) -> list[str]:
    return [node.op for node in graph.nodes]


def test_a_composite_has_the_groups_border_body_and_line() -> None:
    b = Builder()
    x, y = b.input(), b.input()
    z = b.mul(b.relu(b.add(b.neg(x), y)), y)
    pattern = Pattern("p", Op(RELU, (Op(ADD, (Op(NEG, (X,)), Any())),)))
    graph, lost = composed(b.graph(z), pattern)
    assert (ops(graph), lost) == (["v.p.composite", MUL], [])
    node = graph.nodes[0]
    assert (dict(node.kwargs), node.args) == ({"x": x}, (y,))
    assert [n.op for n in node.body.nodes] == [NEG, ADD, RELU]
    assert node.body.inputs == (y, x)
    assert node.body.outputs == node.outputs == (b.nodes[2].outputs[0],)
    assert str(node.source) == "train.py:3"


def test_a_value_under_two_names_is_two_arguments() -> None:
    b = Builder()
    x = b.input()
    graph, _ = composed(b.graph(b.mul(x, b.neg(x))), Pattern("p", Op(MUL, (X, Op(NEG, (Any("y"),))))))
    node = graph.nodes[0]
    assert dict(node.kwargs) == {"x": x, "y": x}
    assert len({v.id for v in node.body.inputs}) == 2


def test_the_larger_match_wins_then_priority_then_order() -> None:
    b = Builder()
    graph = b.graph(b.relu(b.neg(b.input())))
    small = Pattern("small", Op(RELU), priority=9)
    assert ops(composed(graph, small, NEG_RELU)[0]) == ["v.neg_relu.composite"]
    twin = Pattern("twin", NEG_RELU.root, priority=1)
    assert ops(composed(graph, NEG_RELU, twin)[0]) == ["v.twin.composite"]
    equal = Pattern("equal", NEG_RELU.root)
    assert ops(composed(graph, NEG_RELU, equal)[0]) == ["v.neg_relu.composite"]


def test_a_node_is_in_one_composite_only() -> None:
    b = Builder()
    graph = b.graph(b.neg(b.neg(b.neg(b.input()))))
    pair = Pattern("pair", Op(NEG, (Op(NEG, (X,)),)))
    assert ops(composed(graph, pair)[0]) == ["v.pair.composite", NEG]


def test_an_inner_value_that_is_used_elsewhere_forbids_the_match() -> None:
    b = Builder()
    n = b.neg(b.input())
    graph, lost = composed(b.graph(b.relu(n), b.square(n)), NEG_RELU)
    assert ops(graph) == [NEG, RELU, "aten.square.default"]
    assert [(m.code, m.ops, str(m.source)) for m in lost] == [("escapes", (NEG, RELU), "train.py:2")]
    assert NEG in lost[0].reason


def test_an_inner_value_may_escape_where_the_pattern_says_so() -> None:
    b = Builder()
    n = b.neg(b.input())
    r = b.relu(n)
    graph, _ = composed(b.graph(r, b.square(n)), Pattern("p", Op(RELU, (Op(NEG, (X,), escapes=True),))))
    assert graph.nodes[0].outputs == (r, n)


def test_a_graph_output_escapes_too() -> None:
    b = Builder()
    n = b.neg(b.input())
    assert composed(b.graph(b.relu(n), n), NEG_RELU)[1][0].code == "escapes"


def test_without_its_optional_end_the_smaller_match_is_taken() -> None:
    b = Builder()
    n = b.neg(b.input())
    pattern = Pattern("p", Optional(Op(RELU, (Op(NEG, (X,)),))))
    graph, lost = composed(b.graph(b.relu(n), b.square(n)), pattern)
    assert ops(graph) == ["v.p.composite", RELU, "aten.square.default"]
    assert lost == []


def test_literals_are_copied_and_named_with_their_number() -> None:
    b = Builder()
    x = b.input()
    two = b.op("aten.scalar_tensor.default", 2.0, spec=NUMBER, dtype=DType.float64)
    graph, _ = composed(b.graph(b.mul(x, two), two), Pattern("p", Op(MUL, (X, Constant("c")))))
    assert ops(graph) == ["aten.scalar_tensor.default", "v.p.composite"]
    assert dict(graph.nodes[1].kwargs) == {"x": x, "c": 2.0}
    copy = graph.nodes[1].body.nodes[0]
    assert copy.op == "aten.scalar_tensor.default"
    assert copy.outputs[0].id != two.id


def test_a_bound_input_is_an_argument() -> None:
    b = Builder()
    x, w = b.input(), b.input()
    pattern = Pattern("p", Op(MUL, (X, Constant("w"))))
    graph = b.graph(b.mul(x, w))
    assert ops(composed(graph, pattern)[0]) == [MUL]
    (node,) = composed(graph, pattern, bound=frozenset({w.id}))[0].nodes
    assert dict(node.kwargs) == {"x": x, "w": w}


def test_a_match_that_would_close_a_circle_is_not_taken() -> None:
    b = Builder()
    n = b.neg(b.input())
    graph = b.graph(b.add(n, b.square(n)))
    pattern = Pattern("p", Op(ADD, (Op(NEG, (X,), escapes=True), Any("y"))))
    result, lost = composed(graph, pattern)
    assert ops(result) == ops(graph)
    assert [m.code for m in lost] == ["cycle"]


def test_two_matches_that_would_close_a_circle_together_are_not_both_taken() -> None:
    b = Builder()
    x, y = b.input(), b.input()
    first, second = b.neg(x), b.neg(y)
    graph = b.graph(b.mul(first, b.relu(second)), b.mul(second, b.relu(first)))
    cross = Pattern("p", (Op(MUL, (Op(NEG, name="n", escapes=True), Any("m"))), Op(RELU, (Op(NEG, name="n"),))))
    result, lost = composed(graph, cross)
    assert ops(result).count("v.p.composite") == 1
    assert [m.code for m in lost] == ["cycle"]


def test_a_named_value_from_inside_of_the_group_is_none_from_outside() -> None:
    b = Builder()
    n = b.neg(b.input())
    _, lost = composed(b.graph(b.mul(n, n)), Pattern("p", Op(MUL, (Op(NEG), X))))
    assert [m.code for m in lost] == ["inside"]


def test_a_group_with_two_roots_has_both_their_values() -> None:
    b = Builder()
    x = b.input()
    n, r = b.neg(x), b.relu(x)
    result, _ = composed(b.graph(b.mul(r, n)), Pattern("p", (Op(NEG, (X,)), Op(RELU, (X,)))))
    assert ops(result) == ["v.p.composite", MUL]
    assert result.nodes[0].outputs == (n, r)


def test_nodes_between_the_group_are_put_where_they_can_run() -> None:
    b = Builder()
    x = b.input()
    n = b.neg(x)
    s = b.square(b.input())
    graph, _ = composed(b.graph(b.add(b.relu(n), s), b.square(s)), NEG_RELU)
    assert ops(graph) == ["aten.square.default", "v.neg_relu.composite", ADD, "aten.square.default"]


def test_what_an_earlier_backend_takes_is_not_stolen() -> None:
    b = Builder()
    graph = b.graph(b.relu(b.neg(b.input())))
    assert ops(composed(graph, NEG_RELU, before=FakeBackend("first", ops=[NEG]))[0]) == [NEG, RELU]
    assert ops(composed(graph, NEG_RELU, before=FakeBackend("first", ops=[MUL]))[0]) == ["v.neg_relu.composite"]


def test_composites_are_not_matched_again() -> None:
    b = Builder()
    graph, _ = composed(b.graph(b.relu(b.neg(b.input()))), NEG_RELU)
    again, _ = composed(graph, Pattern("any", Op("v.neg_relu.composite")))
    assert ops(again) == ["v.neg_relu.composite"]


def test_a_check_sees_the_match_and_its_refusal_is_kept() -> None:
    b = Builder()
    x = b.input()
    graph = b.graph(b.relu(b.neg(x)))
    seen: list[Match] = []

    def check(match: Match) -> Rejected:
        seen.append(match)
        return Rejected("shape", "only multiples of 4")

    pattern = Pattern("p", Op(RELU, (Op(NEG, (X,), name="n"),)), check)
    result, lost = composed(graph, pattern)
    assert ops(result) == [NEG, RELU]
    assert lost == [LostMatch("v", "p", (NEG, RELU), "shape", "only multiples of 4", b.nodes[1].source)]
    assert [n.op for n in seen[0].nodes] == [NEG, RELU]
    assert (seen[0].values["x"], seen[0].named["n"]) == (x, b.nodes[0])


def test_a_refused_match_leaves_room_for_another() -> None:
    b = Builder()
    graph = b.graph(b.relu(b.neg(b.input())))
    refused = Pattern("p", NEG_RELU.root, lambda _: Rejected("x", "no"), priority=1)
    result, lost = composed(graph, refused, Pattern("q", NEG_RELU.root, lambda _: Supported()))
    assert (ops(result), lost) == (["v.q.composite"], [])


def test_a_check_that_raises_or_answers_nonsense_is_a_refusal() -> None:
    b = Builder()
    graph = b.graph(b.relu(b.neg(b.input())))
    with pytest.warns(BackendWarning, match=r"v's pattern p at train.py:2: its check raised ZeroDivisionError"):
        _, lost = composed(graph, Pattern("p", NEG_RELU.root, lambda _: 1 // 0))
    assert lost[0].code == "plugin_error"
    _, lost = composed(graph, Pattern("p", NEG_RELU.root, lambda _: True))
    assert "which is no decision" in lost[0].reason


def test_a_predicate_that_raises_costs_its_pattern_only() -> None:
    b = Builder()
    graph = b.graph(b.square(b.relu(b.neg(b.input()))))
    bad = Pattern("bad", Op("aten.square.default", (Any(where=lambda value: 1 // len(()) > value.id),)))
    with pytest.warns(BackendWarning, match="v's pattern bad: a predicate raised ZeroDivisionError"):
        result, lost = composed(graph, bad, NEG_RELU)
    assert ops(result) == ["v.neg_relu.composite", "aten.square.default"]
    assert lost[0].pattern == "bad"
