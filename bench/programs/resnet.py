"""ResNet-20 (He et al., 2015, section 4.2) in training mode, without running statistics."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import jax
import jax.numpy as jnp
import torch
from torch import nn

from bench.programs.program import Params, Program

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


def _convolve(x: Any, weight: Any, stride: int = 1) -> Any:
    # NHWC is what XLA's CPU convolution is fast in; the weights stay in PyTorch's layout.
    pad = weight.shape[-1] // 2
    return jax.lax.conv_general_dilated(
        x, weight, (stride, stride), [(pad, pad)] * 2, dimension_numbers=("NHWC", "OIHW", "NHWC")
    )


def _norm(p: Params, name: str, x: Any) -> Any:
    centered = x - x.mean((0, 1, 2))
    scale = jax.lax.rsqrt((centered * centered).mean((0, 1, 2)) + 1e-5)
    return centered * scale * p[f"{name}.weight"] + p[f"{name}.bias"]


def _block(p: Params, name: str, x: Any) -> Any:
    stride = p[f"{name}.first.weight"].shape[0] // x.shape[-1]
    y = jax.nn.relu(_norm(p, f"{name}.norms.0", _convolve(x, p[f"{name}.first.weight"], stride)))
    y = _norm(p, f"{name}.norms.1", _convolve(y, p[f"{name}.second.weight"]))
    return jax.nn.relu(y + (x if stride == 1 else _convolve(x, p[f"{name}.short.weight"], stride)))


def logits(p: Params, x: Any) -> Any:
    x = jnp.transpose(x, (0, 2, 3, 1))
    x = jax.nn.relu(_norm(p, "norm", _convolve(x, p["stem.weight"])))
    for i in range(len(STAGES) * DEPTH):
        x = _block(p, f"blocks.{i}", x)
    return x.mean((1, 2)) @ p["head.weight"].T + p["head.bias"]


RESNET = Program("resnet", Network, batch, logits)
