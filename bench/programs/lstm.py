"""Recurrent networks whose cells are unrolled by a Python loop: PyTorch's cell, and one written out."""

from __future__ import annotations

from functools import partial

import torch
from torch import nn

from bench.programs.program import Program

__all__ = ["LSTM", "WRITTEN"]

BATCH, STEPS, INPUTS, WIDTH, CLASSES = 32, 32, 32, 128, 10


class Written(nn.LSTMCell):
    """The cell as one would write it: its gates are pieces of one product."""

    def forward(self, x: torch.Tensor, state: tuple[torch.Tensor, torch.Tensor]) -> tuple[torch.Tensor, torch.Tensor]:
        h, c = state
        gates = nn.functional.linear(x, self.weight_ih, self.bias_ih) + nn.functional.linear(
            h, self.weight_hh, self.bias_hh
        )
        i, f, g, o = (gates[:, k * WIDTH : (k + 1) * WIDTH] for k in range(4))
        c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
        return torch.sigmoid(o) * torch.tanh(c), c


class Network(nn.Module):
    """(batch, time, inputs) -> logits (batch, classes)."""

    def __init__(self, cell: type[nn.LSTMCell] = nn.LSTMCell) -> None:
        super().__init__()
        self.cell, self.head = cell(INPUTS, WIDTH), nn.Linear(WIDTH, CLASSES)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        h = c = x.new_zeros(x.shape[0], WIDTH)
        for step in range(x.shape[1]):
            h, c = self.cell(x[:, step], (h, c))
        return self.head(h)


def batch() -> tuple[torch.Tensor, ...]:
    return torch.randn(BATCH, STEPS, INPUTS), torch.randint(0, CLASSES, (BATCH,))


LSTM = Program("lstm", "lstm", Network, batch)
WRITTEN = Program("written lstm", "lstm", partial(Network, Written), batch)
