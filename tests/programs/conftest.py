"""Runs a program on CPU eager and on lazycore from one seed, and holds the two outcomes against each other.

A program is a function ``(device, log) -> tensors``: it calls ``log(loss)`` once a step, which observes the loss (and
so is a barrier) and notes how many compilations there have been; the tensors it returns are compared at the end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Protocol

import pytest
import torch

import lazycore

Program = Callable[[str, Callable[[torch.Tensor], None]], Mapping[str, torch.Tensor]]


@dataclass
class Outcome:
    """What a program left behind: losses and compilations after each step, final tensors on CPU, eager ops by name."""

    losses: list[float] = field(default_factory=list)
    compiles: list[int] = field(default_factory=list)
    results: dict[str, torch.Tensor] = field(default_factory=dict)
    fallbacks: dict[str, int] = field(default_factory=dict)

    def log(self, loss: torch.Tensor) -> None:
        self.losses.append(loss.item())
        self.compiles.append(lazycore.metrics()["compiles"])


class Compare(Protocol):
    """The ``compare`` fixture's signature."""

    def __call__(self, program: Program, *, settled: int = 3, atol: float = 1e-5) -> Outcome: ...


@pytest.fixture(params=("reference", "xla"))
def backend(request: pytest.FixtureRequest) -> Iterator[str]:
    """The selected backend's name; the counters start at zero."""
    with lazycore.use_backend(request.param):
        lazycore.reset_metrics()
        yield request.param
        lazycore.sync()


def run(program: Program, device: str) -> Outcome:
    """The program's outcome on one device, from seed 0."""
    torch.manual_seed(0)
    outcome = Outcome()
    results = program(device, outcome.log)
    outcome.results = {name: tensor.detach().cpu() for name, tensor in results.items()}
    outcome.fallbacks = dict(lazycore.metrics()["fallbacks"])
    return outcome


def assert_same(lazy: Outcome, eager: Outcome, atol: float) -> None:
    """Losses agree to 1e-5 relative, final tensors to ``atol``, integers exactly."""
    torch.testing.assert_close(torch.tensor(lazy.losses), torch.tensor(eager.losses), rtol=1e-5, atol=1e-7)
    assert lazy.results.keys() == eager.results.keys()
    for name, expected in eager.results.items():
        exact = not (expected.is_floating_point() or expected.is_complex())
        torch.testing.assert_close(
            lazy.results[name], expected, rtol=0 if exact else 1e-5, atol=0 if exact else atol, equal_nan=True,
            msg=lambda text, name=name: f"{name}: {text}",
        )  # fmt: skip


@pytest.fixture
def compare(backend: str) -> Compare:
    """Run a program on both devices: equal results, at least 5 steps, and no compilation after the first ``settled``
    steps. Returns lazycore's outcome."""

    def comparison(program: Program, *, settled: int = 3, atol: float = 1e-5) -> Outcome:
        eager = run(program, "cpu")
        lazycore.reset_metrics()
        lazy = run(program, "lazycore")
        assert lazycore.metrics()["ops_recorded"] > 0, "the program never reached the device"
        assert_same(lazy, eager, atol)
        assert len(lazy.losses) >= settled + 2, "too few steps to see compilation end"
        assert lazy.compiles[settled - 1] > 0, f"{backend} compiled nothing"
        assert set(lazy.compiles[settled - 1 :]) == {lazy.compiles[-1]}, f"compiles by step: {lazy.compiles}"
        return lazy

    return comparison
