"""Training on TVM: the results are the CPU's, and next to nothing is left to the backend behind it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pytest
import torch
from programkit.outcome import Log, Program, Results, assert_same, run
from test_cnn import convolutional
from test_gpt import GPT, RATE, STEPS, Shape, fit
from torch import nn

import lazycore
from lazycore.frontend.local import fresh_trace, tree
from lazycore.frontend.observer import OBSERVER


def perceptron(device: str, log: Log) -> Results:
    model = nn.Sequential(nn.Linear(12, 32), nn.ReLU(), nn.Linear(32, 32), nn.GELU(), nn.Linear(32, 4)).to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    for _ in range(6):
        x, y = torch.randn(16, 12).to(device), torch.randint(0, 4, (16,)).to(device)
        loss = nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        log(loss)
    return model.state_dict()


def recurrent(device: str, log: Log) -> Results:
    model = nn.LSTM(5, 12).to(device)
    head = nn.Linear(12, 3).to(device)
    optimizer = torch.optim.SGD([*model.parameters(), *head.parameters()], lr=0.05, momentum=0.9)
    for _ in range(6):
        x, y = torch.randn(9, 4, 5).to(device), torch.randint(0, 3, (4,)).to(device)
        loss = nn.functional.cross_entropy(head(model(x)[0][-1]), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        log(loss)
    return {**model.state_dict(), **head.state_dict()}


def transformer(device: str, log: Log) -> Results:
    return fit(GPT(Shape()).to(device), device, log)


PROGRAMS: dict[str, tuple[Program, float]] = {
    "perceptron": (perceptron, 1e-5),
    "convolutional": (convolutional, 1e-5),
    "recurrent": (recurrent, 1e-5),
    "transformer": (transformer, 2 * RATE * STEPS),
}


@pytest.fixture(autouse=True)
def drawn_on_cpu(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(lazycore.config, "rng", "cpu")
    yield
    lazycore.sync()


def _shares() -> Counter[str]:
    """Ops of the plans made since by who runs them."""
    counts: Counter[str] = Counter()
    for placement in OBSERVER.placements:
        counts["eager"] += len(placement.eager)
        for share in placement.shares:
            counts[share.backend] += share.ops
    return counts


# TVM compiles for several seconds.
@pytest.mark.slow
@pytest.mark.parametrize("name", PROGRAMS)
def test_training(name: str) -> None:
    program, tolerance = PROGRAMS[name]
    lazycore.sync()
    tree.clear()
    fresh_trace()
    OBSERVER.placements.clear()
    with lazycore.use_backend("tvm,reference"):
        lazycore.reset_metrics()
        lazy = run(program, "lazycore")
    shares = _shares()
    assert shares["tvm"] > 50
    assert shares["reference"] + shares["eager"] == 0, shares
    assert lazy.compiles[3] == lazy.compiles[-1]
    assert_same(lazy, run(program, "cpu"), rtol=1e-5, atol=tolerance)
