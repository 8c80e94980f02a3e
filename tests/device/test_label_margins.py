"""Gradients of the multi-label margin loss: rows that list several labels, one, or none, with what is behind a -1."""

from __future__ import annotations

import pytest
import torch
from torch.nn.functional import multilabel_margin_loss

import lazycore

LABELS = torch.tensor([[1, 2, -1, 0, 0], [0, -1, 3, 0, 0], [4, 3, 2, 1, 0], [-1, 1, 1, 1, 1]])


@pytest.mark.parametrize("reduction", ["none", "sum", "mean"])
@pytest.mark.parametrize("batched", [True, False])
def test_gradient(batched: bool, reduction: str) -> None:
    x = torch.randn(4, 5, generator=torch.Generator().manual_seed(0))
    x, labels = (x, LABELS) if batched else (x[0], LABELS[0])
    here, there = x.clone().requires_grad_(), x.to("lazycore").requires_grad_()
    multilabel_margin_loss(here, labels, reduction=reduction).square().sum().backward()
    lazycore.reset_metrics()
    multilabel_margin_loss(there, labels.to("lazycore"), reduction=reduction).square().sum().backward()
    assert there.grad is not None
    torch.testing.assert_close(there.grad.cpu(), here.grad)
    assert lazycore.metrics()["fallbacks"] == {}
