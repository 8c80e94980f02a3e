"""Inputs are overwritten only where the caller holds them alone, and never by a plan that has not run yet."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from lazycore_plugin_api import HostArray, Node
from plan_fakes.backends import FakeBackend
from plan_fakes.builder import Builder
from plan_fakes.interpreter import run_eager
from plan_fakes.runs import ONES, TWOS, plan_for, values

from lazycore.compiler.plan import Plan
from lazycore.runtime.executor import run

NEG, ADD = "aten.neg.default", "aten.add.Tensor"


def _update() -> Plan:
    b = Builder()
    graph = b.graph(b.add(b.input(), b.input()))
    return plan_for(graph, FakeBackend("a", donation=True), donatable=frozenset({0}))


def test_the_first_run_keeps_everything() -> None:
    weight, gradient = values(ONES.copy(), TWOS.copy())
    (result,) = run(_update(), [weight, gradient], run_eager=run_eager, exclusive={0})
    np.testing.assert_array_equal(weight.to_host(), ONES)
    np.testing.assert_array_equal(result.to_host(), [3, 3, 3])


def test_later_runs_overwrite_what_is_exclusive() -> None:
    plan = _update()
    run(plan, values(ONES.copy(), TWOS.copy()), run_eager=run_eager)
    weight, gradient = values(ONES.copy(), TWOS.copy())
    (result,) = run(plan, [weight, gradient], run_eager=run_eager, exclusive={0})
    assert weight.deleted
    assert not gradient.deleted
    np.testing.assert_array_equal(result.to_host(), [3, 3, 3])


def test_what_others_hold_is_copied() -> None:
    plan = _update()
    for _ in range(2):
        weight, gradient = values(ONES.copy(), TWOS.copy())
        run(plan, [weight, gradient], run_eager=run_eager)
        np.testing.assert_array_equal(weight.to_host(), ONES)


def test_a_failed_first_run_loses_nothing() -> None:
    b = Builder()
    graph = b.graph(b.relu(b.add(b.input(), b.input())))
    plan = plan_for(graph, FakeBackend("a", [ADD], donation=True), donatable=frozenset({0}))

    def fail(node: Node, inputs: Sequence[HostArray]) -> Sequence[HostArray]:
        raise ArithmeticError(node.op, len(inputs))

    weight, gradient = values(ONES.copy(), TWOS.copy())
    for _ in range(2):
        with pytest.raises(ArithmeticError):
            run(plan, [weight, gradient], run_eager=fail, exclusive={0})
        np.testing.assert_array_equal(weight.to_host(), ONES)


def test_an_eager_result_that_views_a_donated_input_keeps_its_content() -> None:
    b = Builder()
    x = b.input()
    viewed = b.op("aten.alias.default", x)
    graph = b.graph(viewed, b.add(b.neg(x), viewed))
    plan = plan_for(graph, FakeBackend("a", [NEG, ADD], donation=True), donatable=frozenset({0}))
    assert plan.donated == {0}
    for _ in range(2):
        outputs = run(plan, values(ONES.copy()), run_eager=lambda _n, a: [a[0][:]], exclusive={0})
        np.testing.assert_array_equal(outputs[0].to_host(), ONES)


def test_a_buffer_that_came_over_from_another_backend_survives_donation_there() -> None:
    other = FakeBackend("other")
    plan = _update()
    run(plan, values(ONES.copy(), TWOS.copy()), run_eager=run_eager)
    weight, gradient = values(ONES.copy(), TWOS.copy())
    weight.on(other.session)
    buffer = weight.buffers[other.session]
    run(plan, [weight, gradient], run_eager=run_eager, exclusive={0})
    np.testing.assert_array_equal(buffer.to_host(), ONES)
