"""Resizing: gradients decomposed on a backend that lacks them, nothing left to the CPU; what scales are heeded."""

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


@pytest.mark.parametrize("backend", ["reference", "xla"], indirect=True)
@pytest.mark.parametrize(
    ("mode", "rank"),
    [("nearest", 1), ("nearest", 2), ("nearest", 3), ("nearest-exact", 3), ("linear", 1), ("bilinear", 2),
     ("trilinear", 3), ("bicubic", 2)],
)  # fmt: skip
@pytest.mark.parametrize("scale", [(1.06, 1.06), (1.06, 1.6), (1.6, 1.06), (2.1, 2.1)], ids=str)
def test_the_cpu_takes_no_scale_for_a_size_that_stays(mode: str, rank: int, scale: tuple[float, ...]) -> None:
    """Nor, of the nearest element, for one that doubles: 1.06 times 5 are 5, and each is itself."""
    scale = (*scale, scale[0])[:rank]
    x = torch.randn(2, 1, *[5] * rank, generator=torch.Generator().manual_seed(0))
    found = []
    for device in ("cpu", "lazycore"):
        there = x.clone().to(device).requires_grad_()
        result = interpolate(there, scale_factor=scale, mode=mode)
        result.square().sum().backward()
        found.append([result.detach().cpu(), there.grad.cpu()])
    torch.testing.assert_close(found[1], found[0])
