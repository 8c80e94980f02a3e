"""Level 3: random numbers, to the bit: the CPU's stream where it is asked for, else the device's own, which is the same
on every backend."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

__all__ = ["DRAWS"]


def uniform(device: str) -> Sequence[Tensor]:
    return [
        torch.rand(5, 7, device=device),
        torch.rand(3, device=device),
        torch.empty(4, device=device).uniform_(-2, 5),
    ]


def normal(device: str) -> Sequence[Tensor]:
    return [torch.randn(4, 5, device=device), torch.empty(20, device=device).normal_(1, 2)]


def integers(device: str) -> Sequence[Tensor]:
    return [torch.randint(-3, 1000, (9,), device=device), torch.randperm(13, device=device)]


def bernoulli(device: str) -> Sequence[Tensor]:
    return [torch.bernoulli(torch.full((20,), 0.3, device=device))]


def dropout(device: str) -> Sequence[Tensor]:
    return [torch.nn.functional.dropout(torch.ones(6, 7, device=device), 0.4)]


DRAWS: dict[str, Callable[[str], Sequence[Tensor]]] = {
    draw.__name__: draw for draw in (uniform, normal, integers, bernoulli, dropout)
}
