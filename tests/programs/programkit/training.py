"""The loop that most programs share."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import nn

from programkit.outcome import Log, Results

__all__ = ["classes", "steps", "train"]


def steps(
    loss_of: Callable[[int], torch.Tensor], optimizer: torch.optim.Optimizer, log: Log, count: int = 6, clip: float = 0
) -> None:
    """``count`` steps of an optimizer on ``loss_of(step)``; ``clip``: the largest gradient norm, 0 for none."""
    for step in range(count):
        optimizer.zero_grad()
        loss = loss_of(step)
        loss.backward()
        if clip:
            nn.utils.clip_grad_norm_((p for group in optimizer.param_groups for p in group["params"]), clip)
        optimizer.step()
        log(loss)


def classes(device: str, batch: int, count: int) -> torch.Tensor:
    """Random labels (batch,) of ``count`` classes, int64."""
    return torch.randint(0, count, (batch,)).to(device)


def train(
    model: nn.Module, shape: tuple[int, ...], labels: int, device: str, log: Log, lr: float = 0.05, count: int = 6
) -> Results:
    """Train a classifier of random inputs of ``shape`` (batch first) with momentum; returns its state."""
    optimizer = torch.optim.SGD(model.parameters(), lr=lr, momentum=0.9, weight_decay=1e-4)

    def loss_of(_: int) -> torch.Tensor:
        x = torch.randn(shape).to(device)
        return nn.functional.cross_entropy(model(x), classes(device, shape[0], labels))

    steps(loss_of, optimizer, log, count)
    return model.state_dict()
