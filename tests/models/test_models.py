"""Real models train on the device as on the CPU, run natively on the backend, and are compiled once."""

from __future__ import annotations

from importlib import util

import pytest
import torch
from modelkit import MODELS, QUICK
from modelkit.training import Outcome, difference, train
from torch import nn

import lazycore
from lazycore.frontend.local import fresh_trace, tree

_TOLERANCE = 1e-4
_NOISE = 1e-2
"""A model whose float32 losses on the CPU are further than this from its float64 ones says nothing about a device."""


def _rows() -> list[object]:
    slow = pytest.mark.slow
    return [
        pytest.param(
            name, backend, marks=() if name in QUICK and backend == "reference" else slow, id=f"{name}-{backend}"
        )
        for name in MODELS
        for backend in ("reference", "xla")
    ]


@pytest.mark.parametrize(("name", "backend"), _rows())
def test_model_trains_as_on_the_cpu(name: str, backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    case = MODELS[name]
    if util.find_spec(case.library) is None:
        pytest.skip(f"{case.library} is not installed: make models")
    monkeypatch.setattr(lazycore.config, "rng", "cpu")
    model, inputs = case.build()
    eager = train(model, inputs, "cpu")
    lazy = _train_afresh(model, inputs, backend)
    error = difference(lazy, eager)
    assert error <= _TOLERANCE or error <= _tolerance(model, inputs, eager), f"{lazy.losses} {eager.losses}"
    assert not lazycore.metrics()["fallbacks"]
    before, after = lazy.compiles
    assert before == after, "\n".join(map(str, tree.divergences))


def _train_afresh(model: nn.Module, inputs: dict[str, object], backend: str) -> Outcome:
    """On the device, which knows no trace yet."""
    with lazycore.use_backend(backend):
        lazycore.sync()
        tree.roots.clear()
        tree.divergences.clear()
        fresh_trace()
        lazycore.reset_metrics()
        outcome = train(model, inputs, "lazycore")
        lazycore.sync()
    return outcome


def _tolerance(model: nn.Module, inputs: dict[str, object], eager: Outcome) -> float:
    """Three times the CPU's own rounding error: normalization over few elements amplifies the last bit, so that CPU
    eager differs from itself by more than the usual tolerance where it sums in another order (without oneDNN, say)."""
    noise = difference(eager, train(model, inputs, "cpu", torch.float64))
    assert noise <= _NOISE, f"the model is too sensitive to compare: {noise} on the CPU itself"
    return 3 * noise
