"""Convolutions of nothing: results and gradients have the CPU's shapes, also where those are odd."""

from __future__ import annotations

import pytest
import torch
from torch.nn import functional

CASES = {
    "no examples": (0, 4, 4),
    "no channels": (2, 0, 0),
    "no examples, no channels": (0, 0, 0),
}


@pytest.mark.parametrize("backend", ["reference", "xla"], indirect=True)
@pytest.mark.parametrize("rank", [1, 2, 3])
@pytest.mark.parametrize("name", CASES)
def test_values_and_gradients(name: str, rank: int) -> None:
    batch, channels, taken = CASES[name]
    convolution = getattr(functional, f"conv{rank}d")

    def run(device: str) -> list[torch.Tensor]:
        shapes = (batch, channels, *(6, 5, 4)[:rank]), (3, taken, *(2, 3, 2)[:rank]), (3,)
        leaves = [torch.ones(s, device=device, requires_grad=True) for s in shapes]
        result = convolution(*leaves)
        result.sum().backward()
        return [result.detach().cpu(), *(t.grad.cpu() for t in leaves if t.grad is not None)]

    torch.testing.assert_close(run("lazycore"), run("cpu"))
