"""Regions over any graph: as few bytes as possible cross between them, and each op is with the first that takes it."""

from __future__ import annotations

import warnings

from hypothesis import given, settings
from hypothesis import strategies as st
from lazycore_plugin_api import DType, Graph, TensorSpec
from plan_fakes.backends import FakeBackend
from plan_fakes.builder import Builder, never
from plan_fakes.random_graphs import ALL, Program, programs

from lazycore.compiler.partition import partition
from lazycore.compiler.pipeline import compile_graph
from lazycore.compiler.plan import SegmentStep
from lazycore.compiler.refine import crossing_bytes, refine
from lazycore.compiler.unit import Unit

LARGE_SPEC = TensorSpec((1000,), DType.float64)


def test_a_node_goes_where_its_reader_is_rather_than_to_its_own_level() -> None:
    """What is made before an eager op and read only behind it does not cross."""
    b = Builder()
    x = b.input()
    before = b.neg(x)
    late = b.op("aten.neg.default", b.input(LARGE_SPEC), spec=LARGE_SPEC)
    eager = b.relu(before)
    end = b.op("aten.mul.Tensor", eager, late, spec=LARGE_SPEC)
    assert partition(b.graph(end), [0, 0, None, 0]) == [Unit(0, (0,)), Unit(None, (2,)), Unit(0, (1, 3))]


def test_a_node_between_two_regions_goes_where_fewer_bytes_cross() -> None:
    b = Builder()
    x = b.input()
    first = b.neg(x)
    eager = b.relu(first)
    big = b.op("aten.neg.default", first, spec=LARGE_SPEC)
    graph = b.graph(b.op("aten.mul.Tensor", eager, big, spec=LARGE_SPEC))
    assert partition(graph, [0, None, 0, 0]) == [Unit(0, (0,)), Unit(None, (1,)), Unit(0, (2, 3))]


def test_a_node_that_makes_little_of_much_stays_where_the_much_is() -> None:
    b = Builder()
    big = b.op("aten.neg.default", b.input(LARGE_SPEC), spec=LARGE_SPEC)
    other = b.op("lib.sum.default", big)
    small = b.op("lib.sum.default", big)
    graph = b.graph(b.mul(other, small))
    assert partition(graph, [0, 1, 0, 0]) == [Unit(0, (0, 2)), Unit(1, (1,)), Unit(0, (3,))]


@st.composite
def cut_graphs(draw: st.DrawFn) -> tuple[Graph, list[int | None]]:
    graph = draw(programs(max_nodes=20)).graph
    return graph, [draw(st.sampled_from([0, 0, 0, 1, 1, None])) for _ in graph.nodes]


@settings(deadline=None)
@given(cut_graphs())
def test_moving_nodes_never_makes_more_bytes_cross(case: tuple[Graph, list[int | None]]) -> None:
    graph, placements = case
    one_by_one = [Unit(place, (i,)) for i, place in enumerate(placements)]
    assert crossing_bytes(graph, refine(graph, one_by_one)) <= crossing_bytes(graph, one_by_one)


def test_islands_of_one_backend_are_one_unit() -> None:
    b = Builder()
    graph = b.graph(*(b.neg(b.input()) for _ in range(4)), b.relu(b.input()))
    assert partition(graph, [0, 0, 0, 0, None])[0] == Unit(0, (0, 1, 2, 3))


@settings(deadline=None)
@given(programs(max_nodes=20), st.lists(st.frozensets(st.sampled_from(ALL)), min_size=1, max_size=3))
def test_every_op_is_with_the_first_backend_that_takes_it(program: Program, claims: list[frozenset[str]]) -> None:
    backends = [FakeBackend(f"b{i}", ops) for i, ops in enumerate(claims)]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        plan = compile_graph(
            program.graph, scalars=program.scalars, donatable=program.donatable, backends=backends, decompose=never
        )
    for step in plan.steps:
        segment = isinstance(step, SegmentStep)
        for node in step.segment.nodes if segment else [step.node]:
            takers = [b.name for b in backends if node.op in b.ops]
            assert (step.backend if segment else None) == (takers[0] if takers else None)
