"""Real models train on the device as on the CPU, run natively on the backend, and are compiled once."""

from __future__ import annotations

from importlib import util

import pytest
from modelkit import MODELS, QUICK
from modelkit.case import Case
from modelkit.training import Outcome, difference, noise, train
from torch import nn

import lazycore
from lazycore.frontend.local import fresh_trace, tree

_TOLERANCE = 1e-4
_NOISE = 1e-2
"""A model whose losses on the CPU are further than this from themselves says nothing about a device."""


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
    eager = train(model, inputs, "cpu", descent=case.descent)
    lazy = _train_afresh(case, model, inputs, backend)
    error = difference(lazy, eager)
    assert error <= _TOLERANCE or error <= _tolerance(case, model, inputs, eager), f"{lazy.losses} {eager.losses}"
    assert set(lazycore.metrics()["fallbacks"]) <= case.eager
    twice, thrice, after = lazy.compiles
    assert case.varies or thrice == after, "\n".join(map(str, tree.divergences))
    assert case.varies or case.late or twice == thrice, "\n".join(map(str, tree.divergences))


def _train_afresh(case: Case, model: nn.Module, inputs: dict[str, object], backend: str) -> Outcome:
    """On the device, which knows no trace yet."""
    with lazycore.use_backend(backend):
        lazycore.sync()
        tree.clear()
        fresh_trace()
        lazycore.reset_metrics()
        outcome = train(model, inputs, "lazycore", descent=case.descent)
        lazycore.sync()
    return outcome


def _tolerance(case: Case, model: nn.Module, inputs: dict[str, object], eager: Outcome) -> float:
    """Three times the CPU's own rounding error: normalization over few elements amplifies the last bit."""
    own = noise(model, inputs, eager, case.descent)
    assert own <= _NOISE, f"the model is too sensitive to compare: {own} on the CPU itself"
    return 3 * own
