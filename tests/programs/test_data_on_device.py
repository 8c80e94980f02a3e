"""The whole data set lives on the device; batches are slices at a moving offset, which must not compile one by one."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import torch
from torch import nn

BATCH = 32


def sliced_batches(device: str, log: Callable[[torch.Tensor], None]) -> Mapping[str, torch.Tensor]:
    inputs, labels = torch.randn(8 * BATCH, 10).to(device), torch.randint(0, 3, (8 * BATCH,)).to(device)
    model = nn.Linear(10, 3).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for i in range(8):
        batch = slice(i * BATCH, (i + 1) * BATCH)
        loss = nn.functional.cross_entropy(model(inputs[batch]), labels[batch])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        log(loss)
    return model.state_dict()


def column_windows(device: str, log: Callable[[torch.Tensor], None]) -> Mapping[str, torch.Tensor]:
    """A sliding window over the inner dimension is not contiguous, so it cannot be bound as a part of the buffer."""
    series = torch.randn(6, 40).to(device)
    weight = torch.randn(8, device=device, requires_grad=True)
    for i in range(8):
        window = series[:, i : i + 8]
        loss = ((window @ weight) - series[:, i + 8]).square().mean()
        loss.backward()
        with torch.no_grad():
            weight -= 0.05 * weight.grad
            weight.grad = None
        log(loss)
    return {"weight": weight}


def shuffled_batches(device: str, log: Callable[[torch.Tensor], None]) -> Mapping[str, torch.Tensor]:
    inputs, targets = torch.randn(64, 4).to(device), torch.randn(64).to(device)
    model = nn.Linear(4, 1).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for picks in torch.randperm(64).split(8):
        rows = picks.to(device)
        loss = (model(inputs[rows]).squeeze(-1) - targets[rows]).abs().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        log(loss)
    return model.state_dict()


def test_sliced_batches(compare) -> None:
    compare(sliced_batches)


def test_column_windows(compare) -> None:
    compare(column_windows)


def test_shuffled_batches(compare) -> None:
    compare(shuffled_batches)
