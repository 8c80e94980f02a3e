"""Training without modules and optimizers: parameters are plain tensors, updated in place under no_grad."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import torch


def by_hand(device: str, log: Callable[[torch.Tensor], None]) -> Mapping[str, torch.Tensor]:
    inner = (torch.randn(7, 20) * 0.3).to(device).requires_grad_()
    outer = (torch.randn(20, 1) * 0.3).to(device).requires_grad_()
    for step in range(8):
        x = torch.randn(16, 7).to(device)
        y = x.square().sum(-1, keepdim=True)
        loss = (y - torch.relu(x @ inner) @ outer).square().mean()
        loss.backward()
        with torch.no_grad():
            for parameter in (inner, outer):
                parameter -= 0.02 / (step + 1) * parameter.grad
                parameter.grad.zero_()
        log(loss)
    return {"inner": inner, "outer": outer}


def functional(device: str, log: Callable[[torch.Tensor], None]) -> Mapping[str, torch.Tensor]:
    """Weights are never written: each step makes new ones."""
    weight = torch.randn(5, 3).to(device)
    for _ in range(6):
        x, y = torch.randn(9, 5).to(device), torch.randn(9, 3).to(device)
        weight.requires_grad_()
        loss = (x @ weight - y).abs().mean()
        (gradient,) = torch.autograd.grad(loss, weight)
        weight = (weight - 0.1 * gradient).detach()
        log(loss)
    return {"weight": weight}


def test_by_hand(compare) -> None:
    compare(by_hand, settled=4)


def test_functional(compare) -> None:
    compare(functional)
