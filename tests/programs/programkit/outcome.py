"""Running a program on one device, and holding two outcomes against each other."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import torch

import lazycore

__all__ = ["Log", "Outcome", "Program", "Results", "assert_same", "run"]

Log = Callable[[torch.Tensor], None]
Results = Mapping[str, torch.Tensor]
Program = Callable[[str, Log], Results]
"""``(device, log) -> tensors``: ``log(loss)`` once a step observes the loss, and so is a barrier; the tensors returned
are compared at the end."""


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


def run(program: Program, device: str) -> Outcome:
    """The program's outcome on one device, from seed 0."""
    torch.manual_seed(0)
    outcome = Outcome()
    results = program(device, outcome.log)
    outcome.results = {name: tensor.detach().cpu() for name, tensor in results.items()}
    outcome.fallbacks = dict(lazycore.metrics()["fallbacks"])
    return outcome


def assert_same(lazy: Outcome, eager: Outcome, *, rtol: float, atol: float) -> None:
    """Losses agree to ``rtol``, final tensors to ``atol``, integers exactly."""
    torch.testing.assert_close(torch.tensor(lazy.losses), torch.tensor(eager.losses), rtol=rtol, atol=1e-7)
    assert lazy.results.keys() == eager.results.keys()
    for name, expected in eager.results.items():
        exact = not (expected.is_floating_point() or expected.is_complex())
        torch.testing.assert_close(
            lazy.results[name], expected, rtol=0 if exact else 1e-5, atol=0 if exact else atol, equal_nan=True,
            msg=lambda text, name=name: f"{name}: {text}",
        )  # fmt: skip
