"""Runs a program on CPU eager and on lazycore from one seed, and holds the two outcomes against each other."""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Protocol

import pytest

import lazycore
from lazycore.frontend.local import fresh_trace, tree

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(1, str(Path(__file__).parents[1] / "models"))

from programkit import counts
from programkit.outcome import Outcome, Program, assert_same, run
from programkit.witness import gathers, witnessed


class Compare(Protocol):
    """The ``compare`` fixture's signature.

    ``settled``: the step from which on nothing may compile. ``fallbacks``: ops that may run eagerly on xla, where
    none may otherwise. ``gathers``: whether views may be read element by element.
    """

    def __call__(
        self, program: Program, *, settled: int = 3, rtol: float = 1e-5, atol: float = 1e-5,
        fallbacks: Collection[str] = (), gathers: bool = False,
    ) -> Outcome: ...  # fmt: skip


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Turn ``slow_on(backend)`` into ``slow`` before the default selection looks at it."""
    for item in items:
        marker = item.get_closest_marker("slow_on")
        if marker and isinstance(item, pytest.Function) and item.callspec.params["backend"] in marker.args:
            item.add_marker(pytest.mark.slow)


@pytest.fixture(params=("reference", "xla"))
def backend(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The selected backend's name; the counters start at zero, and draws equal the CPU's."""
    monkeypatch.setattr(lazycore.config, "rng", "cpu")
    with lazycore.use_backend(request.param):
        lazycore.reset_metrics()
        yield request.param
        lazycore.sync()


@pytest.fixture
def compare(backend: str, request: pytest.FixtureRequest) -> Compare:
    """Run a program on both devices: equal results, at least 5 steps, no compilation after the first ``settled``
    steps, and no more ops and compilations than the checked-in table has. Returns lazycore's outcome."""

    def comparison(
        program: Program, *, settled: int = 3, rtol: float = 1e-5, atol: float = 1e-5,
        fallbacks: Collection[str] = (), gathers: bool = False,
    ) -> Outcome:  # fmt: skip
        eager = run(program, "cpu")
        lazy = _run_afresh(program, backend, fallbacks, gathers)
        assert_same(lazy, eager, rtol=rtol, atol=atol)
        assert len(lazy.losses) >= settled + 2, "too few steps to see compilation end"
        assert lazy.compiles[settled - 1] > 0, f"{backend} compiled nothing"
        assert set(lazy.compiles[settled - 1 :]) == {lazy.compiles[-1]}, f"compiles by step: {lazy.compiles}"
        _count(request, backend)
        return lazy

    return comparison


def _run_afresh(program: Program, backend: str, fallbacks: Collection[str], may_gather: bool) -> Outcome:
    """The program's outcome on the device, with a trace tree that knows nothing yet: counts must not depend on what
    ran before."""
    lazycore.sync()
    tree.clear()
    fresh_trace()
    lazycore.reset_metrics()
    with witnessed() as segments:
        lazy = run(program, "lazycore")
    assert lazycore.metrics()["ops_recorded"] > 0, "the program never reached the device"
    assert may_gather or not gathers(segments), gathers(segments)
    if backend == "xla":
        assert set(lazy.fallbacks) == set(fallbacks)
    return lazy


def _count(request: pytest.FixtureRequest, backend: str) -> None:
    metrics = lazycore.metrics()
    name = f"{request.node.path.stem}::{request.node.name}"
    for part in (f"[{backend}]", f"{backend}-", f"-{backend}"):
        name = name.replace(part, "")
    record = counts.update if request.config.getoption("--update-counts") else counts.check
    record(name, {"ops": metrics["ops_recorded"], backend: metrics["compiles"]})
