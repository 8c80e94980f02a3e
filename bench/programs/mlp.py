"""A perceptron with two hidden layers."""

from __future__ import annotations

import torch
from torch import nn

from bench.programs.program import Program

__all__ = ["MLP", "MLP_SGD", "TINY"]


def module(inputs: int = 784, width: int = 512, classes: int = 10) -> nn.Module:
    layers = nn.Linear(inputs, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, classes)
    return nn.Sequential(*layers)


def batch(size: int = 64, inputs: int = 784, classes: int = 10) -> tuple[torch.Tensor, ...]:
    return torch.randn(size, inputs), torch.randint(0, classes, (size,))


MLP = Program("mlp", "mlp", module, batch)
MLP_SGD = Program("mlp sgd", "mlp", module, batch, "sgd")
TINY = Program("tiny", "mlp", lambda: module(2, 2, 2), lambda: batch(2, 2, 2))
"""What costs next to nothing to compile or run."""
