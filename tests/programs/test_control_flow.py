"""Python branches on values that the device computes: each branch compiles once, whenever it is first taken."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import torch
from torch import nn


def branch_on_loss(device: str, log: Callable[[torch.Tensor], None]) -> Mapping[str, torch.Tensor]:
    model = nn.Linear(6, 1).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    threshold = torch.tensor(4.0).to(device)
    taken = []
    for step in range(10):
        x = torch.randn(8, 6).to(device)
        loss = (model(x) - (5.0 if step % 2 else 1.0)).square().mean()
        optimizer.zero_grad()
        if loss > threshold:
            (loss * 0.1).backward()
            nn.utils.clip_grad_value_(model.parameters(), 0.5)
            taken.append(True)
        else:
            loss.backward()
            taken.append(False)
        optimizer.step()
        log(loss)
    return {**model.state_dict(), "taken": torch.tensor(taken)}


def loop_until_converged(device: str, log: Callable[[torch.Tensor], None]) -> Mapping[str, torch.Tensor]:
    """Newton's square root: the number of iterations depends on the values."""
    rounds = []
    for target in (2.0, 9.0, 50.0, 7.0, 300.0, 3.0, 11.0):
        x = torch.tensor([target], dtype=torch.float64).to(device)
        guess, count = x.clone(), 0
        while ((guess * guess - x).abs() > 1e-9).any():
            guess = (guess + x / guess) * 0.5
            count += 1
        rounds.append(count)
        log(guess)
    return {"rounds": torch.tensor(rounds)}


def test_branch_on_loss(compare) -> None:
    taken = compare(branch_on_loss, settled=5).results["taken"]
    assert taken.any()
    assert not taken.all()


def test_loop_until_converged(compare) -> None:
    rounds = compare(loop_until_converged).results["rounds"]
    assert rounds.unique().numel() > 1
