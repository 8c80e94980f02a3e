"""A multilayer perceptron under three optimizers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

import pytest
import torch
from torch import nn

OPTIMIZERS: dict[str, Callable[[Iterable[nn.Parameter]], torch.optim.Optimizer]] = {
    "sgd": lambda parameters: torch.optim.SGD(parameters, lr=0.05),
    "momentum": lambda parameters: torch.optim.SGD(parameters, lr=0.05, momentum=0.9, weight_decay=1e-3),
    "adamw": lambda parameters: torch.optim.AdamW(parameters, lr=1e-3),
}


@pytest.mark.parametrize("optimizer_name", OPTIMIZERS)
def test_mlp(compare, backend: str, optimizer_name: str) -> None:
    def program(device: str, log: Callable[[torch.Tensor], None]) -> Mapping[str, torch.Tensor]:
        model = nn.Sequential(nn.Linear(12, 32), nn.ReLU(), nn.Linear(32, 32), nn.GELU(), nn.Linear(32, 4)).to(device)
        optimizer = OPTIMIZERS[optimizer_name](model.parameters())
        for _ in range(8):
            x, y = torch.randn(16, 12), torch.randint(0, 4, (16,))
            loss = nn.functional.cross_entropy(model(x.to(device)), y.to(device))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            log(loss)
        return model.state_dict()

    outcome = compare(program, settled=4)
    if backend == "xla":
        assert not outcome.fallbacks
