"""Numbers become run-time inputs: floats at once, others once seen to vary, all that differ in one step."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from lazycore.trace.tree import Tree

from .recording import Recording, exact, lifted


def test_a_float_is_lifted_from_the_first_time_on() -> None:
    recording = Recording(Tree())
    assert recording.run(("scale", 0.3)) == 1
    assert recording.run(("scale", 0.7)) == 0
    assert lifted(recording.trace.node) == 1


def test_a_special_float_is_a_constant_of_its_own() -> None:
    recording = Recording(Tree())
    recording.run(("scale", 1.0))
    assert exact(recording.trace.node) == [1.0]


def test_an_integer_is_lifted_when_it_varies_and_stays_so() -> None:
    recording = Recording(Tree())
    assert recording.run(("shift", 3)) == 1
    assert recording.run(("shift", 4)) == 1
    assert lifted(recording.trace.node) == 1
    assert [recording.run(("shift", n)) for n in (5, 6, 7)] == [0, 0, 0]


def test_a_lifted_place_takes_special_numbers_too() -> None:
    recording = Recording(Tree())
    recording.run(("scale", 0.3))
    assert recording.run(("scale", 1.0)) == 0
    assert recording.run(("scale", 0.0)) == 0
    assert lifted(recording.trace.node) == 1


def test_the_number_known_first_takes_the_lifted_way_too() -> None:
    recording = Recording(Tree())
    recording.run(("scale", 1.0), ("shift", 1))
    recording.run(("scale", 0.3), ("shift", 2))
    path = recording.trace.node
    assert recording.run(("scale", 1.0), ("shift", 1)) == 0
    assert recording.trace.node is path


def test_a_special_float_that_changes_lifts_what_changes_with_it() -> None:
    recording = Recording(Tree())
    recording.run(("scale", 1.0), ("shift", 1), ("scale", 0.5))
    assert recording.run(("scale", 0.9), ("shift", 2), ("scale", 0.7)) == 3
    assert lifted(recording.trace.node) == 3
    assert recording.run(("scale", 0.8), ("shift", 3), ("scale", 0.6)) == 0


def test_float_and_integer_are_never_one_place() -> None:
    recording = Recording(Tree())
    recording.run(("scale", 3))
    recording.run(("scale", 4))
    assert recording.run(("scale", 2.5)) == 1
    assert recording.run(("scale", True)) == 1


def test_ten_varying_numbers_cost_one_new_path() -> None:
    recording = Recording(Tree())
    calls = [("shift", n) for n in range(10)]
    assert recording.run(*calls) == 10
    assert recording.run(*[(name, n + 100) for name, n in calls]) == 10
    assert lifted(recording.trace.node) == 10
    assert recording.run(*[(name, n + 200) for name, n in calls]) == 0


def test_numbers_that_agree_stay_constants_behind_one_that_differs() -> None:
    recording = Recording(Tree())
    recording.run(("shift", 1), ("shift", 7), ("scale", 2.0))
    recording.run(("shift", 2), ("shift", 7), ("scale", 2.0))
    assert lifted(recording.trace.node) == 1
    assert exact(recording.trace.node) == [7, 2.0]


def test_another_op_ends_the_walk_in_step() -> None:
    recording = Recording(Tree())
    recording.run(("shift", 1), ("relu",), ("shift", 5))
    recording.run(("shift", 2), ("tanh",), ("shift", 6))
    assert lifted(recording.trace.node) == 1
    assert exact(recording.trace.node) == [6]


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2), st.sampled_from([1.0, 2.0])), min_size=2, max_size=8))
def test_numbers_that_vary_one_by_one_make_few_paths(runs: list[tuple[int, int, float]]) -> None:
    """Whatever varies when: the three places are lifted one after the other at worst, so that four paths serve all."""
    recording = Recording(Tree())
    paths = set()
    for a, b, c in runs:
        recording.run(("shift", a), ("shift", b), ("scale", c))
        paths.add(recording.trace.node)
        assert recording.trace.scalars == [a, b, c]
        assert all(number in (a, b, c) for number in exact(recording.trace.node))
    assert len(paths) <= 4


def test_a_schedule_settles_after_the_second_value() -> None:
    recording = Recording(Tree())
    rates = [0.1, 0.05, 1.0, 0.5, 0.0, 0.025]
    new = [recording.run(("scale", rate), ("shift", step)) for step, rate in enumerate(rates)]
    assert new[:2] == [2, 1]
    assert set(new[2:]) == {0}
