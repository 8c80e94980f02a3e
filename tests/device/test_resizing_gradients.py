"""Gradients of resizing on a backend that lacks them: decomposed, and nothing is left to the CPU."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch.nn.functional import interpolate

import lazycore


@pytest.mark.parametrize(
    "how",
    [
        {"size": (7, 5), "mode": "bilinear", "align_corners": True},
        {"scale_factor": (2, 0.5), "mode": "bilinear"},
        {"scale_factor": 1.7, "mode": "nearest"},
    ],
    ids=str,
)
def test_gradient(how: dict[str, Any]) -> None:
    pytest.importorskip("tvm")
    x = torch.randn(2, 3, 4, 6, generator=torch.Generator().manual_seed(0), requires_grad=True)
    result = interpolate(x, **how)
    slope = torch.randn(result.shape, generator=torch.Generator().manual_seed(1))
    (expected,) = torch.autograd.grad(result, x, slope)
    with lazycore.use_backend("tvm"):
        lazycore.reset_metrics()
        there = x.detach().to("lazycore").requires_grad_()
        (actual,) = torch.autograd.grad(interpolate(there, **how), there, slope.to("lazycore"))
        torch.testing.assert_close(actual.cpu(), expected)
        assert lazycore.metrics()["fallbacks"] == {}
