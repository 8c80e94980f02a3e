"""Each pass alone, and the list of them."""

from __future__ import annotations

import pytest
from lazycore_plugin_api import DType, Graph, InvalidGraph, TensorSpec
from plan_fakes.builder import VECTOR, Builder

from lazycore.compiler.duplicates import merge_duplicates
from lazycore.compiler.rewrites import drop_dead_nodes, drop_idle_casts, rewrite

HALF = TensorSpec((3,), DType.float16)


def _ops(graph: Graph) -> list[str]:
    return [node.op for node in graph.nodes]


def test_dead_nodes_go_and_inputs_stay() -> None:
    b = Builder()
    x, y = b.input(), b.input()
    b.relu(b.neg(y))
    graph = drop_dead_nodes(b.graph(b.neg(x)))
    assert _ops(graph) == ["aten.neg.default"]
    assert graph.inputs == (x, y)


def test_a_node_lives_by_any_of_its_outputs() -> None:
    b = Builder()
    _, indices = b.sort(b.input())
    assert _ops(drop_dead_nodes(b.graph(indices))) == ["aten.sort.default"]


def test_a_chain_of_casts_to_one_dtype_becomes_one() -> None:
    b = Builder()
    x = b.input(HALF)
    once = b.op("aten._to_copy.default", x, dtype=DType.float64)
    twice = b.op("aten._to_copy.default", once, dtype=DType.float64)
    thrice = b.op("aten._to_copy.default", twice, dtype=DType.float64)
    graph = drop_idle_casts(b.graph(b.neg(thrice)))
    assert _ops(graph) == ["aten._to_copy.default", "aten.neg.default"]
    assert graph.nodes[1].args == (once,)


def test_a_cast_that_changes_the_dtype_stays() -> None:
    b = Builder()
    down = b.op("aten._to_copy.default", b.input(), dtype=DType.float16, spec=HALF)
    up = b.op("aten._to_copy.default", down, dtype=DType.float64)
    assert len(drop_idle_casts(b.graph(b.neg(up))).nodes) == 3


def test_an_idle_cast_that_is_handed_out_stays_a_value_of_its_own() -> None:
    b = Builder()
    x = b.input()
    copy = b.op("aten._to_copy.default", x, dtype=DType.float64)
    graph = rewrite(b.graph(copy))
    assert _ops(graph) == ["aten._to_copy.default"]
    assert graph.outputs == (copy,)


def test_clones_stay() -> None:
    b = Builder()
    copy = b.op("aten.clone.default", b.input())
    assert len(rewrite(b.graph(b.neg(copy))).nodes) == 2


def test_a_pass_that_breaks_the_graph_is_caught() -> None:
    b = Builder()
    graph = b.graph(b.neg(b.input(VECTOR)))
    with pytest.raises(InvalidGraph, match="before anything writes it"):
        rewrite(graph, (lambda g: Graph(g.inputs, [], g.outputs),))


def test_what_is_computed_twice_is_computed_once() -> None:
    b = Builder()
    x = b.input()
    graph = merge_duplicates(b.graph(b.add(b.relu(b.neg(x)), b.relu(b.neg(x)))))
    assert _ops(graph) == ["aten.neg.default", "aten.relu.default", "aten.add.Tensor"]
    first, second = graph.nodes[2].inputs()
    assert first == second


def test_two_outputs_stay_two() -> None:
    b = Builder()
    x = b.input()
    graph = b.graph(b.neg(x), b.neg(x))
    assert merge_duplicates(graph) == graph


@pytest.mark.parametrize("numbers", [(0.0, -0.0), (1, True), (1, 1.0)])
def test_numbers_that_merely_compare_equal_are_two(numbers: tuple[float, float]) -> None:
    b = Builder()
    x = b.input()
    one, other = (b.op("aten.mul.Scalar", x, number) for number in numbers)
    assert len(merge_duplicates(b.graph(b.add(one, other))).nodes) == 3


def test_a_vendors_op_may_depend_on_more_than_its_operands() -> None:
    b = Builder()
    x = b.input()
    graph = b.graph(b.add(b.op("vendor.noise.default", x), b.op("vendor.noise.default", x)))
    assert len(merge_duplicates(graph).nodes) == 3
