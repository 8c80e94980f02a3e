"""ResNet for small images (He et al., 2015, section 4.2)."""

from __future__ import annotations

import torch
from torch import nn

__all__ = ["ResNet"]


class Block(nn.Module):
    """Two 3x3 convolutions beside a shortcut, which is a strided 1x1 convolution where the shape changes."""

    def __init__(self, inner: int, outer: int, stride: int) -> None:
        super().__init__()
        self.first = nn.Conv2d(inner, outer, 3, stride, 1, bias=False)
        self.first_norm = nn.BatchNorm2d(outer)
        self.second = nn.Conv2d(outer, outer, 3, 1, 1, bias=False)
        self.second_norm = nn.BatchNorm2d(outer)
        self.shortcut = nn.Sequential()
        if stride != 1 or inner != outer:
            self.shortcut = nn.Sequential(nn.Conv2d(inner, outer, 1, stride, bias=False), nn.BatchNorm2d(outer))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        out = torch.relu(self.first_norm(self.first(x)))
        out = self.second_norm(self.second(out))
        out += self.shortcut(x)
        return nn.functional.relu(out, inplace=True)


class ResNet(nn.Module):
    """Images (batch, 3, height, width) -> logits (batch, classes). ``blocks`` in each of three stages: 3 is ResNet-20.
    ``width``: the first stage's channels."""

    def __init__(self, blocks: int = 3, width: int = 16, classes: int = 10) -> None:
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, width, 3, 1, 1, bias=False), nn.BatchNorm2d(width), nn.ReLU(True))
        stages: list[nn.Module] = []
        inner = width
        for stage in range(3):
            outer = width << stage
            for block in range(blocks):
                stages.append(Block(inner, outer, 2 if stage and not block else 1))
                inner = outer
        self.stages = nn.Sequential(*stages)
        self.head = nn.Linear(inner, classes)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.head(self.stages(self.stem(x)).mean((2, 3)))
