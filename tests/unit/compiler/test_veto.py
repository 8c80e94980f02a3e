"""A lone op between two large regions goes to their backend where its crossings cost more than it computes."""

from __future__ import annotations

import pytest
from lazycore_plugin_api import DType, Graph, Pattern, TensorSpec, Value
from lazycore_plugin_api.patterns import Op
from plan_fakes.backends import FakeBackend
from plan_fakes.builder import Builder, never

from lazycore.compiler.pipeline import compile_graph
from lazycore.compiler.plan import Plan, SegmentStep
from lazycore.compiler.veto import LARGE

NEG, RELU = "aten.neg.default", "aten.relu.default"


def sandwich(middle: str = RELU, below: int = LARGE, above: int = LARGE) -> Graph:
    b = Builder()
    x = b.input()
    for _ in range(below):
        x = b.neg(x)
    x = b.op(middle, x)
    for _ in range(above):
        x = b.neg(x)
    return b.graph(x)


def steps(graph: Graph, *backends: FakeBackend) -> list[tuple[str, int]]:
    return [(s.backend, len(s.segment.nodes)) for s in plan(graph, *backends).steps if isinstance(s, SegmentStep)]


def plan(graph: Graph, *backends: FakeBackend) -> Plan:
    return compile_graph(graph, scalars=frozenset(), donatable=frozenset(), backends=backends, decompose=never)


def test_it_joins_its_neighbours_with_the_reason_as_data() -> None:
    result = plan(sandwich(), FakeBackend("first", [RELU]), FakeBackend("second"))
    assert [(s.backend, len(s.segment.nodes)) for s in result.steps] == [("second", 2 * LARGE + 1)]
    (refused,) = result.placement.refused[LARGE : LARGE + 1]
    assert (refused.op, refused.taken_by, str(refused.source)) == (RELU, "second", f"train.py:{LARGE + 1}")
    assert [(r.backend, r.code) for r in refused.refusals] == [("first", "cost")]
    assert "its 2 crossings of 48 bytes cost more than its 3 operations" in refused.refusals[0].reason


@pytest.mark.parametrize(("below", "above"), [(LARGE - 1, LARGE), (LARGE, LARGE - 1), (0, LARGE), (LARGE, 0)])
def test_not_beside_a_small_region_or_none(below: int, above: int) -> None:
    backends = FakeBackend("first", [RELU]), FakeBackend("second")
    assert ("first", 1) in steps(sandwich(below=below, above=above), *backends)


def test_not_where_the_neighbour_does_not_take_it() -> None:
    assert ("first", 1) in steps(sandwich(), FakeBackend("first", [RELU]), FakeBackend("second", [NEG]))


def test_not_two_ops_together() -> None:
    b = Builder()
    x = b.input()
    for op in [NEG] * LARGE + [RELU] * 2 + [NEG] * LARGE:
        x = b.op(op, x)
    assert ("first", 2) in steps(b.graph(x), FakeBackend("first", [RELU]), FakeBackend("second"))


def test_not_where_the_work_is_worth_it() -> None:
    b = Builder()
    square = TensorSpec((256, 256), DType.float64)
    x: Value = b.input(square)
    for op in [NEG] * LARGE + ["aten.mm.default"] + [NEG] * LARGE:
        x = b.op(op, *([x, x] if op == "aten.mm.default" else [x]), spec=square)
    dear = FakeBackend("first", ["aten.mm.default"]), FakeBackend("second", [NEG, "aten.mm.default"])
    assert ("first", 1) in steps(b.graph(x), *dear)


def test_not_a_composite() -> None:
    vendor = FakeBackend("first", [], patterns=[Pattern("p", Op(RELU))])
    assert ("first", 1) in steps(sandwich(), vendor, FakeBackend("second"))


def test_the_veto_goes_on_to_the_next_backend_in_line() -> None:
    backends = FakeBackend("first", [RELU]), FakeBackend("second", [RELU]), FakeBackend("third")
    assert steps(sandwich(), *backends) == [("third", 2 * LARGE + 1)]


def test_eager_neighbours_are_no_backend() -> None:
    assert ("first", 1) in steps(sandwich(), FakeBackend("first", [RELU]))
