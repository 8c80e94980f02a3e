"""A recurrent network whose cells are unrolled by a Python loop."""

from __future__ import annotations

import torch
from torch import nn

from bench.programs.program import Program

__all__ = ["LSTM"]

BATCH, STEPS, INPUTS, WIDTH, CLASSES = 32, 32, 32, 128, 10


class Network(nn.Module):
    """(batch, time, inputs) -> logits (batch, classes)."""

    def __init__(self) -> None:
        super().__init__()
        self.cell, self.head = nn.LSTMCell(INPUTS, WIDTH), nn.Linear(WIDTH, CLASSES)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        h = c = x.new_zeros(x.shape[0], WIDTH)
        for step in range(x.shape[1]):
            h, c = self.cell(x[:, step], (h, c))
        return self.head(h)


def batch() -> tuple[torch.Tensor, ...]:
    return torch.randn(BATCH, STEPS, INPUTS), torch.randint(0, CLASSES, (BATCH,))


LSTM = Program("lstm", "lstm", Network, batch)
