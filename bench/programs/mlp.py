"""A perceptron with two hidden layers."""

from __future__ import annotations

from typing import Any

import jax
import torch
from torch import nn

from bench.programs.program import Params, Program

__all__ = ["MLP"]


def module() -> nn.Module:
    return nn.Sequential(
        nn.Linear(784, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 10)
    )  # fmt: skip


def batch() -> tuple[torch.Tensor, ...]:
    return torch.randn(64, 784), torch.randint(0, 10, (64,))


def logits(p: Params, x: Any) -> Any:
    for layer in (0, 2, 4):
        x = x @ p[f"{layer}.weight"].T + p[f"{layer}.bias"]
        x = jax.nn.relu(x) if layer < 4 else x
    return x


MLP = Program("mlp", module, batch, logits)
