"""Convolutions with batch normalization, max- and average-pooling; training steps, then evaluation mode."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import torch
from torch import nn


def convolutional(device: str, log: Callable[[torch.Tensor], None]) -> Mapping[str, torch.Tensor]:
    model = nn.Sequential(
        nn.Conv2d(3, 8, 3, padding=1, bias=False), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(8, 16, 3, stride=2, groups=2), nn.ReLU(), nn.AvgPool2d(2, padding=1),
        nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(16, 5),
    ).to(device)  # fmt: skip
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    for _ in range(7):
        x, y = torch.randn(6, 3, 16, 16).to(device), torch.randint(0, 5, (6,)).to(device)
        loss = nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad(set_to_none=False)
        loss.backward()
        optimizer.step()
        log(loss)
    model.eval()
    with torch.no_grad():
        logits = model(torch.randn(2, 3, 16, 16).to(device))
    return {**model.state_dict(), "logits": logits}


def test_cnn(compare, backend: str) -> None:
    outcome = compare(convolutional, settled=4)
    assert outcome.results["1.num_batches_tracked"] == 7
    if backend == "xla":
        assert not outcome.fallbacks
