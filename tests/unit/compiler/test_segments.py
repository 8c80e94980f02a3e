"""What crosses a segment's borders, which inputs are numbers, and which may be overwritten."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from lazycore_plugin_api import Graph, Segment, Value
from plan_fakes.backends import FakeBackend
from plan_fakes.builder import NUMBER, Builder

from lazycore.compiler.partition import partition
from lazycore.compiler.segments import Part, cut

A, B, EAGER = 0, 1, None


def _cut(
    graph: Graph,
    places: list[int | None],
    *,
    scalars: set[int] = frozenset(),
    donatable: set[int] = frozenset(),
    replaced: Mapping[int, int] = MappingProxyType({}),
) -> list[Part]:
    backends = [FakeBackend("a", donation=True), FakeBackend("b")]
    units = partition(graph, places)
    return cut(graph, units, backends, frozenset(scalars), frozenset(donatable), replaced=replaced)


def _segments(*args: object, **kwargs: object) -> list[Segment]:
    return [part for part in _cut(*args, **kwargs) if isinstance(part, Segment)]


def test_borders() -> None:
    b = Builder()
    x, y = b.input(), b.input()
    p = b.neg(x)
    q = b.add(p, y)
    r = b.relu(q)
    s = b.mul(r, p)
    first, second = _segments(b.graph(s, q), [A, A, EAGER, A])
    assert (first.inputs, first.outputs) == ((x, y), (p, q))
    assert (second.inputs, second.outputs) == ((r, p), (s,))
    assert first.name != second.name


def test_an_output_that_nobody_wants_is_left_out() -> None:
    b = Builder()
    _, indices = b.sort(b.input())
    (segment,) = _segments(b.graph(indices), [A])
    assert segment.outputs == (indices,)


def test_numbers_come_last() -> None:
    b = Builder()
    n, x, m, y = b.input(NUMBER), b.input(), b.input(NUMBER), b.input()
    graph = b.graph(b.add(b.mul(x, n), b.mul(y, m)))
    (segment,) = _segments(graph, [A] * 3, scalars={0, 2})
    assert segment.inputs == (x, y, n, m)
    assert segment.scalars == {2, 3}


def _update() -> Graph:
    b = Builder()
    weight, gradient = b.input(), b.input()
    return b.graph(b.add(weight, b.neg(gradient)))


def test_an_overwritten_input_is_donated() -> None:
    (segment,) = _segments(_update(), [A, A], donatable={0})
    assert [segment.inputs[p].id for p in segment.donatable] == [0]


def test_what_the_caller_keeps_is_not_donated() -> None:
    (segment,) = _segments(_update(), [A, A])
    assert segment.donatable == frozenset()


def test_a_backend_without_donation_gets_none() -> None:
    (segment,) = _segments(_update(), [B, B], donatable={0})
    assert segment.donatable == frozenset()


def test_no_more_is_donated_than_outputs_can_take_its_place() -> None:
    (segment,) = _segments(_update(), [A, A], donatable={0, 1})
    assert len(segment.donatable) == 1


def _steps() -> tuple[Graph, list[Value]]:
    """Two gradients that are kept, and the two parameters less them; outputs: gradients, then parameters."""
    b = Builder()
    first, second, x = b.input(), b.input(), b.input()
    gradients = [b.neg(x), b.relu(x)]
    updated = [b.add(p, g) for p, g in zip((first, second), gradients, strict=True)]
    return b.graph(*gradients, *updated), [*gradients, *updated]


def test_outputs_meet_the_inputs_that_they_replace() -> None:
    graph, (g1, g2, p1, p2) = _steps()
    (segment,) = _segments(graph, [A] * 4, donatable={0, 1}, replaced={0: 2, 1: 3})
    places = {segment.inputs[p].id: p for p in segment.donatable}
    assert places.keys() == {0, 1}
    assert segment.outputs == (*((p1, p2) if places[0] < places[1] else (p2, p1)), g1, g2)


def test_an_input_that_nothing_replaces_leaves_what_replaces_others_alone() -> None:
    graph, (g1, g2, p1, p2) = _steps()
    (segment,) = _segments(graph, [A] * 4, donatable={0, 1, 2}, replaced={0: 2, 1: 3})
    met = {segment.inputs[p].id: out for p, out in zip(sorted(segment.donatable), segment.outputs, strict=False)}
    assert met == {0: p1, 1: p2, 2: g1}
    assert segment.outputs[3:] == (g2,)


def test_what_replaces_an_input_has_room_before_others() -> None:
    b = Builder()
    x, weight = b.input(), b.input()
    updated = b.add(weight, x)
    (segment,) = _segments(b.graph(updated), [A], donatable={0, 1}, replaced={1: 0})
    assert [segment.inputs[p] for p in segment.donatable] == [weight]


def test_an_input_that_is_an_output_is_not_donated() -> None:
    b = Builder()
    x = b.input()
    (segment,) = _segments(b.graph(b.neg(x), x), [A], donatable={0})
    assert segment.donatable == frozenset()


def test_only_the_last_reader_donates() -> None:
    b = Builder()
    x = b.input()
    y = b.relu(b.neg(x))
    graph = b.graph(b.add(y, x))
    first, second = _segments(graph, [A, EAGER, A], donatable={0})
    assert first.donatable == frozenset()
    # y is the plan's own and takes the only output's place first.
    assert [second.inputs[p] for p in second.donatable] == [y]


def test_a_later_eager_reader_forbids_donation() -> None:
    b = Builder()
    x = b.input()
    y = b.neg(x)
    (segment,) = _segments(b.graph(b.op("aten.sort.default", y), b.mul(y, x)), [A, EAGER, EAGER], donatable={0})
    assert segment.donatable == frozenset()


def test_a_number_is_never_donated() -> None:
    b = Builder()
    n = b.input(NUMBER)
    graph = b.graph(b.op("aten.neg.default", n, spec=NUMBER))
    (segment,) = _segments(graph, [A], scalars={0}, donatable={0})
    assert segment.donatable == frozenset()
