"""What a program of the benchmark consists of."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import nn

__all__ = ["Program"]


@dataclass(frozen=True)
class Program:
    """``module``: the network; ``batch``: the inputs and, last, the int64 targets; ``optimizer``: ``adamw`` or ``sgd``,
    which minimizes the cross entropy. ``bench.by_hand`` has the same network on jax arrays under ``network``.
    ``loss_rtol``: how far apart the ways' losses may be."""

    name: str
    network: str
    module: Callable[[], nn.Module]
    batch: Callable[[], tuple[torch.Tensor, ...]]
    optimizer: str = "adamw"
    loss_rtol: float = 1e-3
