"""Random programs of views, writes through them, reads and barriers equal CPU eager at every read."""

from __future__ import annotations

import warnings

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from .machine import BARRIERS, BASES, Machine, Step
from .views import VIEWS
from .writes import RESULTS, WRITES

OPS = [*VIEWS, *WRITES, *RESULTS, *BARRIERS]
number = st.integers(0, 5)


def programs(ops: list[str]) -> st.SearchStrategy[list[Step]]:
    picks = st.tuples(number, number, number, number)
    step = st.builds(Step, op=st.sampled_from(ops), at=number, other=number, picks=picks)
    return st.lists(step, min_size=1, max_size=12)


steps = programs(OPS)
# Integers seen as floats are denormal numbers, which XLA takes for zeros.
xla_steps = programs([op for op in OPS if op != "view_dtype"])
bases = st.lists(st.sampled_from(list(BASES)), min_size=1, max_size=3, unique=True)
relaxed = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])


def run(names: list[str], program: list[Step]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # torch's own, of casts and overlaps
        Machine(names).run(program)


@settings(relaxed, max_examples=80)
@given(bases, steps)
def test_equals_cpu_eager(names: list[str], program: list[Step]) -> None:
    run(names, program)


@pytest.mark.slow
@settings(relaxed, max_examples=3000)
@given(bases, steps)
def test_thousands_equal_cpu_eager(names: list[str], program: list[Step]) -> None:
    run(names, program)


@settings(relaxed, max_examples=40)
@given(bases, steps, st.lists(st.integers(0, 12), min_size=2, max_size=4))
def test_equals_cpu_eager_when_repeated(names: list[str], program: list[Step], changes: list[int]) -> None:
    """The same program with other numbers and offsets takes known paths, lifted places and cached plans."""
    run(names, program)
    for change in changes:
        varied = [Step(s.op, s.at, s.other, (*s.picks[:1], (s.picks[1] + change) % 6, *s.picks[2:])) for s in program]
        run(names, varied)


@pytest.mark.parametrize("backend", ["xla"], indirect=True)
@pytest.mark.slow
@settings(relaxed, max_examples=40)
@given(bases, xla_steps)
def test_equals_cpu_eager_on_xla(names: list[str], program: list[Step]) -> None:
    run(names, program)
