"""Units are convex, complete and in order, for any graph and any placement."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from lazycore_plugin_api import Graph
from plan_fakes.builder import Builder
from plan_fakes.random_graphs import programs

from lazycore.compiler.partition import Unit, partition


@st.composite
def placed_graphs(draw: st.DrawFn) -> tuple[Graph, list[int | None]]:
    graph = draw(programs(max_nodes=20)).graph
    place = st.sampled_from([0, 0, 0, 1, 1, None])
    return graph, [draw(place) for _ in graph.nodes]


@settings(deadline=None)
@given(placed_graphs())
def test_units_hold_each_node_once_under_its_placement(case: tuple[Graph, list[int | None]]) -> None:
    graph, placements = case
    units = partition(graph, placements)
    assert sorted(i for unit in units for i in unit.nodes) == list(range(len(graph.nodes)))
    assert all(placements[i] == unit.backend for unit in units for i in unit.nodes)
    assert all(len(unit.nodes) == 1 for unit in units if unit.backend is None)


@settings(deadline=None)
@given(placed_graphs())
def test_running_units_in_order_never_reads_what_is_not_written(case: tuple[Graph, list[int | None]]) -> None:
    graph, placements = case
    written = {value.id for value in graph.inputs}
    for unit in partition(graph, placements):
        assert list(unit.nodes) == sorted(unit.nodes)
        for i in unit.nodes:
            assert {value.id for value in graph.nodes[i].inputs()} <= written
            written |= {value.id for value in graph.nodes[i].outputs}


@settings(deadline=None)
@given(placed_graphs())
def test_no_two_units_of_a_backend_could_be_merged(case: tuple[Graph, list[int | None]]) -> None:
    graph, placements = case
    units = partition(graph, placements)
    pairs = [(a, b) for b in range(len(units)) for a in range(b) if units[a].backend == units[b].backend is not None]
    assert all(_path_through_a_third(graph, units, a, b) for a, b in pairs)


def _path_through_a_third(graph: Graph, units: list[Unit], first: int, last: int) -> bool:
    """By search over the nodes, not by the partitioner's own bit sets. Units are in order, so paths go forward."""
    unit_of = {i: u for u, unit in enumerate(units) for i in unit.nodes}
    writer = {v.id: unit_of[i] for i, node in enumerate(graph.nodes) for v in node.outputs}
    left = {first}
    through_third: set[int] = set()
    for u in range(first + 1, last + 1):
        sources = {writer[v.id] for i in units[u].nodes for v in graph.nodes[i].inputs() if v.id in writer} - {u}
        if sources & left:
            left.add(u)
        if sources & (left - {first}) or sources & through_third:
            through_third.add(u)
    return last in through_third


def test_one_backend_makes_one_unit() -> None:
    b = Builder()
    x = b.input()
    graph = b.graph(b.add(b.neg(x), b.relu(x)), b.neg(b.neg(x)))
    assert partition(graph, [0] * 5) == [Unit(0, (0, 1, 2, 3, 4))]


def test_an_eager_node_in_the_middle_makes_two_units() -> None:
    b = Builder()
    x = b.input()
    graph = b.graph(b.neg(b.relu(b.neg(x))))
    assert partition(graph, [0, None, 0]) == [Unit(0, (0,)), Unit(None, (1,)), Unit(0, (2,))]


def test_a_skip_connection_around_an_eager_node_does_not_pull_both_sides_together() -> None:
    b = Builder()
    x = b.neg(b.input())
    graph = b.graph(b.add(x, b.relu(x)))
    assert [unit.backend for unit in partition(graph, [0, None, 0])] == [0, None, 0]


def test_work_beside_an_early_eager_node_joins_the_work_behind_it() -> None:
    b = Builder()
    x = b.input()
    early = b.relu(x)
    graph = b.graph(b.add(b.neg(x), early))
    assert partition(graph, [None, 0, 0]) == [Unit(None, (0,)), Unit(0, (1, 2))]


def test_an_empty_graph_has_no_units() -> None:
    b = Builder()
    assert partition(b.graph(b.input()), []) == []


def test_a_long_chain_is_cut_quickly() -> None:
    b = Builder()
    x = b.input()
    for _ in range(1000):
        x = b.neg(x)
    units = partition(b.graph(x), [None if i % 2 else 0 for i in range(1000)])
    assert len(units) == 1000
