"""A recurrent network whose cells are unrolled by a Python loop."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

import pytest
import torch
from torch import nn

import lazycore


class Unrolled(nn.Module):
    """An LSTM cell stepped over the sequence by hand; (batch, time, 5) -> (batch, 3)."""

    def __init__(self) -> None:
        super().__init__()
        self.cell = nn.LSTMCell(5, 12)
        self.head = nn.Linear(12, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        h = x.new_zeros(x.shape[0], 12)
        c = torch.zeros_like(h)
        for step in range(x.shape[1]):
            h, c = self.cell(x[:, step], (h, c))
        return self.head(h)


def recurrent(device: str, log: Callable[[torch.Tensor], None], steps: int) -> Mapping[str, torch.Tensor]:
    model = Unrolled().to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(7):
        x, y = torch.randn(4, steps, 5).to(device), torch.randint(0, 3, (4,)).to(device)
        loss = nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        log(loss)
    return model.state_dict()


@pytest.mark.parametrize("steps", [9, 32])
def test_lstm(compare, backend: str, steps: int) -> None:
    outcome = compare(partial(recurrent, steps=steps), settled=3)
    if backend == "xla":
        assert not outcome.fallbacks


@pytest.mark.parametrize("backend", ["reference"], indirect=True)
@pytest.mark.usefixtures("backend")
def test_a_step_of_many_cells_becomes_one_trace() -> None:
    model = Unrolled().to("lazycore")
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    pieces = []
    for _ in range(4):
        x = torch.randn(4, 200, 5, device="lazycore")
        lazycore.sync()
        before = lazycore.metrics()["syncs"]
        model(x).square().sum().backward()
        optimizer.step()
        optimizer.zero_grad()
        pieces.append(lazycore.metrics()["syncs"] - before)
    assert pieces[0] > 1
    # One loop after the other, the cells' and their gradients', is found to be a part only.
    assert pieces[2:] == [1, 1]
