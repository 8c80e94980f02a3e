"""A recurrent network whose cells are unrolled by a Python loop."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import torch
from torch import nn

from bench.programs.program import Params, Program

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


def logits(p: Params, x: Any) -> Any:
    h = c = jnp.zeros((x.shape[0], WIDTH), x.dtype)
    for step in range(x.shape[1]):
        inner = x[:, step] @ p["cell.weight_ih"].T + p["cell.bias_ih"]
        i, f, g, o = jnp.split(inner + h @ p["cell.weight_hh"].T + p["cell.bias_hh"], 4, -1)
        c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
        h = jax.nn.sigmoid(o) * jnp.tanh(c)
    return h @ p["head.weight"].T + p["head.bias"]


LSTM = Program("lstm", Network, batch, logits)
