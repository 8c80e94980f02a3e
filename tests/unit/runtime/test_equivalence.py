"""Any program on any backends computes what its interpretation does, first and later runs alike."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from plan_fakes.backends import FakeBackend
from plan_fakes.builder import square_as_mul
from plan_fakes.interpreter import OPS, interpret, run_eager
from plan_fakes.random_graphs import Program, programs

from lazycore.compiler.pipeline import compile_graph
from lazycore.compiler.plan import Plan
from lazycore.runtime.buffers import DeviceValue
from lazycore.runtime.executor import run


@settings(deadline=None)
@given(
    program=programs(),
    first=st.frozensets(st.sampled_from(sorted(OPS))),
    second=st.frozensets(st.sampled_from(sorted(OPS))),
    broken=st.frozensets(st.sampled_from(sorted(OPS)), max_size=2),
    donation=st.tuples(st.booleans(), st.booleans()),
    exclusive=st.frozensets(st.integers(0, 2)),
)
@pytest.mark.filterwarnings("ignore::lazycore.compiler.failures.BackendWarning")
def test_equal_to_interpretation(
    program: Program,
    first: frozenset[str],
    second: frozenset[str],
    broken: frozenset[str],
    donation: tuple[bool, bool],
    exclusive: frozenset[int],
) -> None:
    backends = [
        FakeBackend("one", first, broken=broken, donation=donation[0]),
        FakeBackend("two", second, donation=donation[1]),
    ]
    plan = compile_graph(
        program.graph,
        scalars=program.scalars,
        donatable=program.donatable,
        backends=backends,
        decompose=square_as_mul,
    )
    assert plan.donated <= program.donatable
    for seed in range(3):
        _run_once(program, plan, exclusive, seed)


def _run_once(program: Program, plan: Plan, exclusive: frozenset[int], seed: int) -> None:
    random = np.random.default_rng(seed)
    arrays = [random.integers(-4, 5, v.spec.static_shape).astype(np.float64) for v in program.graph.inputs]
    expected = interpret(program.graph, arrays)
    numbers = program.scalars
    inputs = [a.copy() if p in numbers else DeviceValue.from_host(a.copy()) for p, a in enumerate(arrays)]
    outputs = run(plan, inputs, run_eager=run_eager, exclusive=exclusive)
    for got, due, value in zip(outputs, expected, program.graph.outputs, strict=True):
        np.testing.assert_array_equal(got.to_host(), due)
        assert got.spec == value.spec
    given_away = plan.donated & exclusive if seed else frozenset()
    for p, (held, array) in enumerate(zip(inputs, arrays, strict=True)):
        if isinstance(held, DeviceValue):
            assert held.deleted == (p in given_away)
        if p not in given_away:
            np.testing.assert_array_equal(held.to_host() if isinstance(held, DeviceValue) else held, array)
