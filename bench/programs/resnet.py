"""ResNet-20 (He et al., 2015, section 4.2) in training mode, without running statistics."""

from __future__ import annotations

from itertools import pairwise

import torch
from torch import nn

from bench.programs.program import Program

__all__ = ["RESNET"]

BATCH, STAGES, DEPTH = 32, (16, 32, 64), 3


def norm(channels: int) -> nn.BatchNorm2d:
    return nn.BatchNorm2d(channels, track_running_stats=False)


class Block(nn.Module):
    """Two convolutions and a shortcut; (batch, channels, height, width)."""

    def __init__(self, given: int, channels: int) -> None:
        super().__init__()
        stride = channels // given
        self.first = nn.Conv2d(given, channels, 3, stride, 1, bias=False)
        self.second = nn.Conv2d(channels, channels, 3, 1, 1, bias=False)
        self.norms = nn.ModuleList([norm(channels), norm(channels)])
        self.short = nn.Conv2d(given, channels, 1, stride, bias=False) if stride > 1 else None

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.norms[1](self.second(torch.relu(self.norms[0](self.first(x)))))
        return torch.relu(y + (x if self.short is None else self.short(x)))


class Network(nn.Module):
    """(batch, 3, 32, 32) -> logits (batch, 10)."""

    def __init__(self) -> None:
        super().__init__()
        self.stem, self.norm = nn.Conv2d(3, STAGES[0], 3, 1, 1, bias=False), norm(STAGES[0])
        widths = [STAGES[0], *(s for s in STAGES for _ in range(DEPTH))]
        self.blocks = nn.Sequential(*(Block(a, b) for a, b in pairwise(widths)))
        self.head = nn.Linear(STAGES[-1], 10)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.head(self.blocks(torch.relu(self.norm(self.stem(x)))).mean((2, 3)))


def batch() -> tuple[torch.Tensor, ...]:
    return torch.randn(BATCH, 3, 32, 32), torch.randint(0, 10, (BATCH,))


# Batch normalizations magnify rounding: eager and torch.compile are 1.5e-3 apart after a few steps.
RESNET = Program("resnet", "resnet", Network, batch, loss_rtol=4e-3)
