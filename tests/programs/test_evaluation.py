"""An evaluation loop that observes nothing until the end: predictions only pile up in a list."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import torch
from torch import nn


def collect_predictions(device: str, log: Callable[[torch.Tensor], None]) -> Mapping[str, torch.Tensor]:
    model = nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Linear(16, 4)).to(device).eval()
    results = {}
    for epoch in range(5):
        predictions, correct = [], torch.zeros((), dtype=torch.int64, device=device)
        with torch.no_grad():
            for _ in range(20):
                x, y = torch.randn(8, 6), torch.randint(0, 4, (8,))
                predicted = model(x.to(device)).argmax(-1)
                correct += (predicted == y.to(device)).sum()
                predictions.append(predicted)
        results[f"predictions {epoch}"] = torch.cat(predictions)
        log(correct)
    return results


def test_collected_predictions(compare) -> None:
    outcome = compare(collect_predictions)
    assert outcome.results["predictions 4"].shape == (160,)
