"""What a pattern matches: each part of the language, and nothing else."""

from __future__ import annotations

from lazycore_plugin_api import DType, Graph, Pattern, TensorSpec, Value
from lazycore_plugin_api.patterns import Any, Constant, Op, Optional, PatternNode
from plan_fakes.builder import NUMBER, VECTOR, Builder

from lazycore.compiler.patterns.matcher import Found, Matcher

ADD, MUL, NEG, RELU = "aten.add.Tensor", "aten.mul.Tensor", "aten.neg.default", "aten.relu.default"


def found(
    graph: Graph, *roots: PatternNode, taken: frozenset[int] = frozenset(), bound: frozenset[int] = frozenset()
) -> list[Found]:
    matcher = Matcher(graph, lambda position: position not in taken, bound)
    return list(matcher.matches(Pattern("p", roots if len(roots) > 1 else roots[0])))


def nodes(graph: Graph, *roots: PatternNode, **options: frozenset[int]) -> list[list[int]]:
    return [sorted(f.nodes) for f in found(graph, *roots, **options)]


def test_a_chain_is_matched_from_its_end_wherever_it_ends() -> None:
    b = Builder()
    x = b.neg(b.input())
    graph = b.graph(b.relu(x), b.relu(b.neg(x)))
    assert nodes(graph, Op(RELU, (Op(NEG),))) == [[0, 1], [2, 3]]
    assert nodes(graph, Op(RELU, (Op(NEG, (Op(NEG),)),))) == [[0, 2, 3]]


def test_several_op_names() -> None:
    b = Builder()
    x = b.input()
    assert nodes(b.graph(b.neg(x), b.relu(x), b.square(x)), Op((NEG, RELU))) == [[0], [1]]


def test_operands_are_all_values_in_order() -> None:
    b = Builder()
    x = b.input()
    graph = b.graph(b.mul(b.neg(x), x))
    assert nodes(graph, Op(MUL, (Op(NEG), Any()))) == [[0, 1]]
    assert nodes(graph, Op(MUL, (Any(), Op(NEG)))) == []
    assert nodes(graph, Op(MUL, (Op(NEG),))) == []
    assert nodes(graph, Op(MUL)) == [[1]]


def test_commutative_operands() -> None:
    b = Builder()
    x = b.input()
    graph = b.graph(b.mul(b.neg(x), x))
    (match,) = found(graph, Op(MUL, (Any("x"), Op(NEG)), commutative=True))
    assert match.values == {"x": x}


def test_the_same_name_is_the_same_value() -> None:
    b = Builder()
    x, y = b.input(), b.input()
    graph = b.graph(b.mul(x, x), b.mul(x, y))
    assert nodes(graph, Op(MUL, (Any("x"), Any("x")))) == [[0]]


def test_a_name_for_op_and_value_ties_a_diamond() -> None:
    b = Builder()
    x, y = b.input(), b.input()
    n = b.neg(x)
    graph = b.graph(b.mul(n, b.relu(n)), b.mul(b.neg(y), b.relu(n)))
    pattern = Op(MUL, (Op(NEG, name="n"), Op(RELU, (Op(NEG, name="n"),))))
    assert nodes(graph, pattern) == [[0, 1, 2]]


def test_attributes_by_position_and_keyword() -> None:
    b = Builder()
    x = b.input()
    plain, scaled = b.add(x, x), b.op(ADD, x, x, alpha=2)
    b.sort(x)
    graph = b.graph(plain, scaled)
    assert nodes(graph, Op(ADD, attributes={"alpha": 1})) == [[0]]
    assert nodes(graph, Op(ADD, attributes={"alpha": lambda a: a > 1})) == [[1]]
    assert nodes(graph, Op("aten.sort.default", attributes={1: -1, 2: False})) == [[2]]
    assert nodes(graph, Op("aten.sort.default", attributes={1: 0})) == []
    assert nodes(graph, Op("aten.sort.default", attributes={9: 0})) == []
    assert nodes(graph, Op("aten.sort.default", attributes={"dim": -1})) == []


def test_a_bool_is_no_number_and_a_tuple_is_compared_by_item() -> None:
    b = Builder()
    x = b.input()
    graph = b.graph(b.op("lib.x.default", x, True, (1, 2.0)))
    assert nodes(graph, Op("lib.x.default", attributes={1: True, 2: (1, 2)})) == [[0]]
    assert nodes(graph, Op("lib.x.default", attributes={1: 1})) == []
    assert nodes(graph, Op("lib.x.default", attributes={2: (1, 3)})) == []
    assert nodes(graph, Op("lib.x.default", attributes={2: (1,)})) == []


def test_a_number_that_varies_is_no_literal() -> None:
    b = Builder()
    x, n = b.input(), b.input(NUMBER)
    graph = b.graph(b.op(ADD, x, x, alpha=n))
    assert nodes(graph, Op(ADD, attributes={"alpha": 1})) == []
    assert nodes(graph, Op(ADD, (Any("x"), Any("x"), Any("n")))) == [[0]]


def test_dtypes_and_conditions() -> None:
    b = Builder()
    whole = TensorSpec((3,), DType.int64)
    x, y = b.input(), b.input(whole)
    graph = b.graph(b.neg(x), b.op(NEG, y, spec=whole))
    assert nodes(graph, Op(NEG, dtypes={DType.int64})) == [[1]]
    assert nodes(graph, Op(NEG, (Any(dtypes={DType.float64}),))) == [[0]]
    assert nodes(graph, Op(NEG, (Any(where=lambda v: v.spec.dtype.is_integral),))) == [[1]]


def test_constants_are_literals_or_bound_inputs() -> None:
    b = Builder()
    x, w = b.input(), b.input()
    two = b.op("aten.scalar_tensor.default", 2.0, spec=NUMBER, dtype=DType.float64)
    full = b.op("aten.full.default", (3,), 2.0, spec=VECTOR, dtype=DType.float64)
    graph = b.graph(b.mul(x, two), b.mul(x, full), b.mul(x, w))
    two_or_full = found(graph, Op(MUL, (Any(), Constant("c"))))
    assert [f.numbers for f in two_or_full] == [{"c": 2.0}, {"c": 2.0}]
    assert [f.literals for f in two_or_full] == [{0}, {1}]
    assert nodes(graph, Op(MUL, (Any(), Constant(equals=3)))) == []
    assert nodes(graph, Op(MUL, (Any(), Constant("c"))), bound=frozenset({w.id})) == [[2], [3], [4]]


def test_an_optional_op_stands_for_its_first_operand() -> None:
    b = Builder()
    x = b.input()
    graph = b.graph(b.relu(b.neg(x)), b.neg(b.square(x)))
    pattern = Optional(Op(RELU, (Op(NEG, (Any("x"),)),), name="activation"))
    assert nodes(graph, pattern) == [[0], [0, 1], [3]]
    inner = Op(NEG, (Optional(Op("aten.square.default", (Any("x"),))),))
    assert nodes(graph, inner) == [[0], [2, 3], [3]]


def test_an_optional_value_may_be_missing() -> None:
    b = Builder()
    x, y = b.input(), b.input()
    graph = b.graph(b.op("lib.x.default", x, None), b.op("lib.x.default", x, y))
    bare, full = found(graph, Op("lib.x.default", (Any("x"), Optional(Any("bias")))))
    assert (bare.values, full.values) == ({"x": x}, {"x": x, "bias": y})


def test_another_result_than_the_first() -> None:
    b = Builder()
    x = b.input()
    values, indices = b.sort(x)
    graph = b.graph(b.op(NEG, indices, spec=indices.spec), b.neg(values))
    assert nodes(graph, Op(NEG, (Op("aten.sort.default", result=1),))) == [[0, 1]]
    assert nodes(graph, Op("aten.sort.default", result=5)) == []


def test_several_roots_meet_in_a_name() -> None:
    b = Builder()
    x, y = b.input(), b.input()
    graph = b.graph(b.neg(x), b.relu(x), b.relu(y))
    (match,) = found(graph, Op(NEG, (Any("x"),)), Op(RELU, (Any("x"),)))
    assert (sorted(match.nodes), match.roots) == ([0, 1], {0, 1})


def test_nodes_that_are_taken_do_not_match() -> None:
    b = Builder()
    graph = b.graph(b.relu(b.neg(b.input())))
    assert nodes(graph, Op(RELU, (Op(NEG),)), taken=frozenset({0})) == []


def test_an_input_is_not_written_by_an_op() -> None:
    b = Builder()
    x: Value = b.input()
    assert nodes(b.graph(b.neg(x)), Op(NEG, (Op(NEG),))) == []
