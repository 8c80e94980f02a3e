"""Frozen inputs: bound for the backends that ask for it, and inputs like all others for the rest."""

from __future__ import annotations

import numpy as np
import pytest
from lazycore_plugin_api import Constants, Graph
from plan_fakes.backends import FakeBackend
from plan_fakes.builder import NUMBER, Builder, never
from plan_fakes.interpreter import run_eager
from plan_fakes.runs import values

from lazycore.compiler.partition import partition
from lazycore.compiler.pipeline import compile_graph
from lazycore.compiler.plan import Plan, SegmentStep
from lazycore.compiler.segments import cut
from lazycore.runtime import executor

NEG = "aten.neg.default"
WEIGHT = np.array([1.0, 2.0, 3.0])


def scaled() -> Graph:
    """(w * x) * n, with the weight the first input."""
    b = Builder()
    w, x, n = b.input(), b.input(), b.input(NUMBER)
    return b.graph(b.mul(b.mul(w, x), n))


def plan_with(backend: FakeBackend, *others: FakeBackend, graph: Graph | None = None) -> Plan:
    return compile_graph(
        graph or scaled(), scalars=frozenset({2}), donatable=frozenset(), backends=[backend, *others],
        decompose=never, constants={0: WEIGHT},
    )  # fmt: skip


@pytest.mark.parametrize("policy", [Constants.bind, Constants.own])
def test_bound_constants_come_last_and_run_does_not_get_them(policy: Constants) -> None:
    backend = FakeBackend("a", constants=policy)
    plan = plan_with(backend)
    (segment,) = backend.compiled
    assert [v.id for v in segment.inputs] == [1, 2, 0]
    assert [v.id for v in segment.arguments] == [1, 2]
    assert segment.scalars == {1}
    assert segment.constants == {2: WEIGHT}
    step = plan.steps[0]
    assert isinstance(step, SegmentStep)
    assert (step.tensors, step.scalars) == ((1,), (2,))
    other = values(np.full(3, 7.0), np.full(3, 2.0))
    (result,) = executor.run(plan, [*other, np.asarray(10.0)], run_eager=run_eager)
    np.testing.assert_equal(result.to_host(), WEIGHT * 20)
    assert plan.placement.segments[0].constants == 1


def test_a_backend_that_wants_none_bound_gets_inputs() -> None:
    backend = FakeBackend("a")
    plan = plan_with(backend)
    assert backend.compiled[0].constants == {}
    assert plan.bindable == frozenset()


def test_bindable_are_the_tensors_that_such_a_backend_reads() -> None:
    b = Builder()
    w, x, n = b.input(), b.input(), b.input(NUMBER)
    graph = b.graph(b.mul(b.neg(w), n), b.relu(x))
    plan = plan_with(
        FakeBackend("a", [NEG, "aten.mul.Tensor"], constants=Constants.bind), FakeBackend("b"), graph=graph
    )
    assert plan.bindable == {0}


def test_a_constant_is_never_donated() -> None:
    b = Builder()
    backend = FakeBackend("a", donation=True, constants=Constants.bind)
    graph = b.graph(b.neg(b.input()))
    (segment,) = cut(graph, partition(graph, [0]), [backend], frozenset(), frozenset({0}), {0: WEIGHT})
    assert segment.donatable == frozenset()
