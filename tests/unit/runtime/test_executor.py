"""Running plans: what goes in, what comes out, what is let go."""

from __future__ import annotations

import weakref
from collections import Counter
from collections.abc import Sequence

import numpy as np
from lazycore_plugin_api import HostArray, Node
from plan_fakes.backends import FakeBackend
from plan_fakes.builder import NUMBER, Builder
from plan_fakes.interpreter import run_eager
from plan_fakes.runs import ONES, plan_for, values

from lazycore.runtime.executor import run

NEG, ADD, RELU = "aten.neg.default", "aten.add.Tensor", "aten.relu.default"


def test_numbers_reach_segments_and_eager_ops_as_arrays() -> None:
    b = Builder()
    n, x = b.input(NUMBER), b.input()
    graph = b.graph(b.mul(b.add(x, n), n))
    plan = plan_for(graph, FakeBackend("a", [ADD]), scalars=frozenset({0}))
    (result,) = run(plan, [np.array(3.0), *values(ONES)], run_eager=run_eager)
    np.testing.assert_array_equal(result.to_host(), [12, 12, 12])


def test_a_number_may_be_an_output() -> None:
    b = Builder()
    n = b.input(NUMBER)
    plan = plan_for(b.graph(n), scalars=frozenset({0}))
    number = np.array(3.0)
    (result,) = run(plan, [number], run_eager=run_eager)
    number[...] = 4.0
    assert result.to_host() == 3.0
    assert result.spec == NUMBER


def test_an_input_that_is_an_output_is_the_same_value() -> None:
    b = Builder()
    x = b.input()
    (value,) = values(ONES)
    assert run(plan_for(b.graph(x, x)), [value], run_eager=run_eager) == [value, value]


def test_values_stay_on_their_backend() -> None:
    b = Builder()
    backend = FakeBackend("a")
    plan = plan_for(b.graph(b.neg(b.input())), backend)
    (once,) = run(plan, values(ONES), run_eager=run_eager)
    run(plan, [once], run_eager=run_eager)
    assert backend.session.uploads == 1


def test_intermediates_are_let_go_after_their_last_use() -> None:
    b = Builder()
    x = b.neg(b.input())
    graph = b.graph(b.relu(b.neg(b.relu(x))))
    alive: list[bool] = []
    arrays: list[weakref.ref[HostArray]] = []

    def watch(node: Node, inputs: Sequence[HostArray]) -> Sequence[HostArray]:
        alive.append(any(ref() is not None for ref in arrays))
        arrays.extend(weakref.ref(array) for array in inputs)
        return run_eager(node, inputs)

    run(plan_for(graph, FakeBackend("a", [NEG])), values(ONES), run_eager=watch)
    assert alive == [False, False]


def test_fallbacks_are_counted_per_run() -> None:
    b = Builder()
    plan = plan_for(b.graph(b.relu(b.neg(b.relu(b.input())))), FakeBackend("a", [NEG]))
    counts: Counter[str] = Counter()
    for _ in range(3):
        run(plan, values(ONES), run_eager=run_eager, on_fallback=lambda op: counts.update([op]))
    assert counts == {RELU: 6}
