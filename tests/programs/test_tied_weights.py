"""A language model whose output layer shares the embedding's weight: still one parameter after ``.to(device)``."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import torch
from torch import nn


class Tied(nn.Module):
    """Token ids (batch, time) -> logits (batch, time, 30)."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(30, 12)
        self.mix = nn.Linear(12, 12)
        self.head = nn.Linear(12, 30, bias=False)
        self.head.weight = self.embedding.weight

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        return self.head(torch.tanh(self.mix(self.embedding(ids))))


def tied(device: str, log: Callable[[torch.Tensor], None]) -> Mapping[str, torch.Tensor]:
    model = Tied().to(device)
    assert model.head.weight is model.embedding.weight
    assert len(list(model.parameters())) == 3
    optimizer = torch.optim.SGD(model.parameters(), lr=0.2, momentum=0.5)
    for _ in range(6):
        ids = torch.randint(0, 30, (4, 9)).to(device)
        loss = nn.functional.cross_entropy(model(ids[:, :-1]).flatten(0, 1), ids[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        log(loss)
    return model.state_dict()


def test_tied_weights(compare) -> None:
    outcome = compare(tied, settled=4)
    assert torch.equal(outcome.results["head.weight"], outcome.results["embedding.weight"])
