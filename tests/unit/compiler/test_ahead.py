"""Numbers that a program may look at are computed ahead of the rest, by asynchronous backends and where it pays."""

from __future__ import annotations

import pytest
from lazycore_plugin_api import DType, Graph, Node, TensorSpec, Value
from plan_fakes.backends import FakeBackend
from plan_fakes.builder import Builder, never

from lazycore.compiler import ahead
from lazycore.compiler.ahead import SHARE, WORTH, run_ahead
from lazycore.compiler.estimate import flops
from lazycore.compiler.pipeline import compile_graph
from lazycore.compiler.plan import Plan, SegmentStep
from lazycore.compiler.unit import Unit
from lazycore.compiler.veto import CROSSING, PER_BYTE

WIDE = TensorSpec((1024, 1024), DType.float32)
NUMBER = TensorSpec((), DType.float32)
TINY = TensorSpec((1, 1024), DType.float32)
SMALL = TensorSpec((8, 1024), DType.float32)


def training() -> Graph:
    """Nodes 0 and 1 make the number, the others the products that are left; the last reads node 0's result."""
    b = Builder()
    x, weight = b.input(SMALL), b.input(WIDE)
    hidden = b.op("aten.mm.default", x, weight, spec=SMALL)
    loss = b.op("aten.sum.default", hidden, dtype=None, spec=NUMBER)
    return b.graph(loss, b.op("aten.mm.default", hidden, _products(b, weight, 2), spec=SMALL))


def _products(b: Builder, x: Value, count: int) -> Value:
    for _ in range(count):
        x = b.op("aten.mm.default", x, x, spec=WIDE)
    return x


def cut(graph: Graph, *, asynchronous: bool = True) -> list[tuple[int, ...]]:
    backends = [FakeBackend("a", asynchronous=asynchronous)]
    return [unit.nodes for unit in run_ahead(graph, [Unit(0, tuple(range(len(graph.nodes))))], backends)]


def test_a_number_and_what_it_is_made_of_go_first() -> None:
    assert cut(training()) == [(0, 1), (2, 3, 4)]


def test_not_where_the_backend_computes_at_once() -> None:
    assert cut(training(), asynchronous=False) == [(0, 1, 2, 3, 4)]


def test_not_without_a_number_among_the_results() -> None:
    graph = training()
    graph = Graph(graph.inputs, graph.nodes, graph.outputs[1:])
    assert cut(graph) == [(0, 1, 2, 3, 4)]


def test_not_where_nothing_is_left_to_run() -> None:
    b = Builder()
    x = b.input(WIDE)
    graph = b.graph(b.op("aten.sum.default", _products(b, x, 3), dtype=None, spec=NUMBER))
    assert cut(graph) == [(0, 1, 2, 3)]


def test_not_where_the_rest_is_small_beside_what_comes_before() -> None:
    b = Builder()
    x, y = b.input(WIDE), b.input(WIDE)
    number = b.op("aten.sum.default", _products(b, x, SHARE), dtype=None, spec=NUMBER)
    graph = b.graph(number, _products(b, y, 1))
    assert len(cut(graph)) == 1
    assert len(cut(b.graph(number, _products(b, y, 2)))) == 2


def handing_over(products: int) -> Graph:
    b = Builder()
    x, weight, other = b.input(WIDE), b.input(WIDE), b.input(TensorSpec((512, 512), DType.float32))
    hidden = b.op("aten.mm.default", x, weight, spec=WIDE)
    loss = b.op("aten.sum.default", hidden, dtype=None, spec=NUMBER)
    for _ in range(products):
        other = b.op("aten.mm.default", other, other, spec=other.spec)
    return b.graph(loss, b.op("aten.neg.default", hidden, spec=WIDE), other)


def test_not_where_handing_over_costs_more_than_a_hundredth_of_the_rest() -> None:
    # The rest reads one intermediate of 4 MiB, which with a launch costs as much as 3.2 of its products take.
    product = 2 * 512**3
    assert 3 * product < WORTH * (2 * CROSSING + PER_BYTE * 4 * 1024**2) < 4 * product
    assert len(cut(handing_over(3))) == 1
    assert len(cut(handing_over(4))) == 2


def numbers(*ahead: TensorSpec) -> Graph:
    """For each spec a number made of a product of that size, two nodes; then a product and its sum."""
    b = Builder()
    weight = b.input(WIDE)
    found = []
    for spec in ahead:
        product = b.op("aten.mm.default", b.input(spec), weight, spec=spec)
        found.append(b.op("aten.sum.default", product, dtype=None, spec=NUMBER))
    rest = b.op("aten.mm.default", weight, weight, spec=WIDE)
    return b.graph(*found, b.op("aten.sum.default", rest, dtype=None, spec=NUMBER))


def test_further_numbers_come_along_while_enough_is_left() -> None:
    # The last one is the last product's: with it nothing would be left.
    assert cut(numbers(SMALL)) == [(0, 1), (2, 3)]
    assert cut(numbers(TINY, SMALL)) == [(0, 1, 2, 3), (4, 5)]


def test_not_where_the_numbers_cost_less_than_a_launch() -> None:
    assert 2 * 1024**2 < WORTH * CROSSING < 2 * 8 * 1024**2
    assert len(cut(numbers(TINY))) == 1


def test_units_of_others_stay_as_they_are() -> None:
    graph = training()
    units = [Unit(0, (0,)), Unit(None, (1,)), Unit(1, (2, 3, 4))]
    backends = [FakeBackend("a", asynchronous=True), FakeBackend("b", asynchronous=True)]
    assert run_ahead(graph, units, backends) == units


def plan(*, early: bool) -> Plan:
    return compile_graph(
        training(),
        scalars=frozenset(),
        donatable=frozenset({1}),
        backends=[FakeBackend("a", asynchronous=True, donation=True, ops=["aten.mm.default", "aten.sum.default"])],
        decompose=never,
        ahead=early,
    )


def test_only_the_last_part_overwrites_what_both_read() -> None:
    first, second = (step for step in plan(early=True).steps if isinstance(step, SegmentStep))
    assert [len(first.segment.nodes), len(second.segment.nodes)] == [2, 3]
    assert not first.donations


def test_each_part_has_a_witness_of_its_end() -> None:
    assert plan(early=True).witnesses == ((0,), (1,))
    assert plan(early=False).witnesses == ((0, 1),)


def test_the_smallest_results_are_witnesses() -> None:
    b = Builder()
    x, y = b.input(WIDE), b.input(TINY)
    graph = b.graph(*_each(b, x, 9), b.op("aten.neg.default", y, spec=TINY))
    backend = FakeBackend("a", ops=["aten.neg.default"])
    found = compile_graph(
        graph, scalars=frozenset(), donatable=frozenset(), backends=[backend], decompose=never
    ).witnesses
    assert found == ((9, 0, 1, 2),)


def _each(b: Builder, x: Value, count: int) -> list[Value]:
    results = []
    for _ in range(count):
        x = b.op("aten.neg.default", x, spec=x.spec)
        results.append(x)
    return results


def test_many_numbers_are_looked_at_in_one_pass() -> None:
    b = Builder()
    weight = b.input(WIDE)
    loss = b.op(
        "aten.sum.default", b.op("aten.mm.default", b.input(SMALL), weight, spec=SMALL), dtype=None, spec=NUMBER
    )
    counts = [b.op("aten.neg.default", b.input(NUMBER), spec=NUMBER) for _ in range(500)]
    graph = b.graph(loss, *counts, _products(b, weight, 1))
    looked = 0

    def looking(node: Node) -> int:
        nonlocal looked
        looked += 1
        return flops(node)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ahead, "flops", looking)
        assert cut(graph) == [tuple(range(502)), (502,)]
    assert looked <= 3 * len(graph.nodes)
