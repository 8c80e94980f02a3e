"""An op that no backend compiles in the middle of a differentiated program: it runs eagerly, and is counted."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import torch


def spectral_penalty(device: str, log: Callable[[torch.Tensor], None]) -> Mapping[str, torch.Tensor]:
    weight = torch.randn(6, 4).to(device).requires_grad_()
    optimizer = torch.optim.SGD([weight], lr=0.05)
    for _ in range(6):
        x = torch.randn(5, 6).to(device)
        product = torch.tanh(x @ weight)
        singular = torch.linalg.svd(product, full_matrices=False).S
        loss = singular.sum() + weight.square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        log(loss)
    return {"weight": weight}


def test_svd_in_the_middle(compare) -> None:
    outcome = compare(spectral_penalty)
    assert sum(count for op, count in outcome.fallbacks.items() if "svd" in op) == 6
