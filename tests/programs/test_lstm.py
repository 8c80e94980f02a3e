"""A recurrent network whose cells are unrolled by a Python loop."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import torch
from torch import nn


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


def recurrent(device: str, log: Callable[[torch.Tensor], None]) -> Mapping[str, torch.Tensor]:
    model = Unrolled().to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(7):
        x, y = torch.randn(4, 9, 5).to(device), torch.randint(0, 3, (4,)).to(device)
        loss = nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        log(loss)
    return model.state_dict()


def test_lstm(compare, backend: str) -> None:
    outcome = compare(recurrent, settled=3)
    if backend == "xla":
        assert not outcome.fallbacks
