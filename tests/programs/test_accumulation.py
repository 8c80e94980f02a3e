"""Gradient accumulation over micro-batches, a learning-rate schedule, and an exponential moving average of weights."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping

import torch
from torch import nn


def averaged(device: str, log: Callable[[torch.Tensor], None]) -> Mapping[str, torch.Tensor]:
    model = nn.Sequential(nn.Linear(8, 16), nn.SiLU(), nn.LayerNorm(16), nn.Linear(16, 2)).to(device)
    average = copy.deepcopy(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=10)
    for _ in range(8):
        total = torch.zeros((), device=device)
        for _ in range(3):
            x, y = torch.randn(4, 8).to(device), torch.randn(4, 2).to(device)
            loss = nn.functional.mse_loss(model(x), y) / 3
            loss.backward()
            total += loss.detach()
        optimizer.step()
        optimizer.zero_grad()
        schedule.step()
        with torch.no_grad():
            for mean, weight in zip(average.parameters(), model.parameters(), strict=True):
                mean.lerp_(weight, 0.1)
        log(total)
    averages = {f"average {name}": tensor for name, tensor in average.state_dict().items()}
    return {**model.state_dict(), **averages}


def test_average_and_accumulation(compare) -> None:
    compare(averaged, settled=4)
