"""Randomness comes from CPU's stream: dropout and draws made on the device equal those of CPU eager."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import torch
from torch import nn


def with_dropout(device: str, log: Callable[[torch.Tensor], None]) -> Mapping[str, torch.Tensor]:
    model = nn.Sequential(nn.Linear(10, 32), nn.Dropout(0.3), nn.ReLU(), nn.Dropout(0.1), nn.Linear(32, 3)).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(6):
        x, y = torch.randn(12, 10).to(device), torch.randint(0, 3, (12,)).to(device)
        loss = nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        log(loss)
    return model.state_dict()


def drawn_on_device(device: str, log: Callable[[torch.Tensor], None]) -> Mapping[str, torch.Tensor]:
    results = {}
    for step in range(5):
        noise = torch.randn(4, 6, device=device)
        mask = torch.rand_like(noise) < 0.5
        order = torch.randperm(6, device=device)
        filled = torch.empty(4, 6, device=device).normal_(1.0, 2.0)
        results[f"draw {step}"] = torch.where(mask, noise, filled)[:, order]
        log(results[f"draw {step}"].sum())
    return results


def test_dropout(compare) -> None:
    compare(with_dropout)


def test_drawn_on_device(compare) -> None:
    compare(drawn_on_device)
