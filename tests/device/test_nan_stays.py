"""What is not finite reaches the results that are computed from it, forward and backward, and no others.

A window read as a product with zeros and ones would not do: zero times NaN is NaN.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F

Use = Callable[[torch.Tensor], torch.Tensor]

LINE, PLANE, VOLUME = (2, 3, 9), (2, 2, 6, 7), (1, 2, 6, 5, 7)

CASES: dict[str, tuple[tuple[int, ...], Use]] = {
    "avg_pool1d": (LINE, lambda x: F.avg_pool1d(x, 2)),
    "avg_pool2d": (PLANE, lambda x: F.avg_pool2d(x, 2, padding=1)),
    "avg_pool3d": (VOLUME, lambda x: F.avg_pool3d(x, 2)),
    "avg_pool3d, overlapping": (VOLUME, lambda x: F.avg_pool3d(x, 3, stride=2, padding=1, ceil_mode=True)),
    "adaptive_avg_pool1d": (LINE, lambda x: F.adaptive_avg_pool1d(x, 4)),
    "adaptive_avg_pool2d": (PLANE, lambda x: F.adaptive_avg_pool2d(x, (4, 3))),
    "adaptive_avg_pool3d": (VOLUME, lambda x: F.adaptive_avg_pool3d(x, (4, 3, 2))),
    "max_pool2d": (PLANE, lambda x: F.max_pool2d(x, 2)),
    "max_pool3d": (VOLUME, lambda x: F.max_pool3d(x, 2)),
    "nearest": (PLANE, lambda x: F.interpolate(x, (4, 9))),
    "linear": (LINE, lambda x: F.interpolate(x, 13, mode="linear")),
    "bilinear": (PLANE, lambda x: F.interpolate(x, (4, 9), mode="bilinear")),
    "bicubic": (PLANE, lambda x: F.interpolate(x, (4, 9), mode="bicubic")),
    "trilinear": (VOLUME, lambda x: F.interpolate(x, (4, 6, 9), mode="trilinear")),
    "antialiased": (PLANE, lambda x: F.interpolate(x, (4, 3), mode="bilinear", antialias=True)),
    "antialiased cubic": (PLANE, lambda x: F.interpolate(x, (4, 3), mode="bicubic", antialias=True)),
    "unfold": (PLANE, lambda x: F.unfold(x, 2)),
    "fold": ((1, 8, 6), lambda x: F.fold(x, (3, 4), 2)),
    "reflect": (PLANE, lambda x: F.pad(x, (2, 1, 1, 2), "reflect")),
    "replicate": (VOLUME, lambda x: F.pad(x, (2, 1, 1, 2, 0, 1), "replicate")),
    "local_response_norm": (PLANE, lambda x: F.local_response_norm(x, 2)),
    "cumsum": (LINE, lambda x: x.cumsum(2)),
    "index_add": (LINE, lambda x: x.clone().index_add(2, torch.tensor([1, 1, 4], device=x.device), x[..., :3])),
    "tril": (PLANE, lambda x: x.tril()),
    "where": (LINE, lambda x: torch.where(x > 1, x * 2, 0)),
}


def _run(use: Use, source: torch.Tensor, device: str, bad: float) -> list[torch.Tensor]:
    x = source.to(device).requires_grad_()
    out = use(x)
    slope = torch.ones(out.shape)
    slope.view(-1)[out.numel() // 2] = bad
    return [out.detach().cpu(), torch.autograd.grad(out, x, slope.to(device))[0].cpu()]


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
@pytest.mark.parametrize("name", CASES)
def test_places_are_the_cpus(name: str, bad: float) -> None:
    shape, use = CASES[name]
    source = torch.randn(shape, generator=torch.Generator().manual_seed(3))
    source.view(-1)[source.numel() // 3] = bad
    for expected, actual in zip(_run(use, source, "cpu", bad), _run(use, source, "lazycore", bad), strict=True):
        torch.testing.assert_close(actual, expected, equal_nan=True)


@pytest.mark.parametrize("backend", ["reference", "xla"], indirect=True)
@pytest.mark.parametrize("rank", [1, 2, 3])
def test_of_several_the_last_is_pooled(rank: int) -> None:
    x = torch.arange(2.0 * 4**rank).reshape(2, *[4] * rank)
    x.view(2, -1)[:, ::3] = torch.nan
    pool = getattr(torch.nn.functional, f"adaptive_max_pool{rank}d")
    values, places = pool(x, 2, return_indices=True)
    got = pool(x.to("lazycore"), 2, return_indices=True)
    torch.testing.assert_close(got[0].cpu(), values, equal_nan=True)
    assert torch.equal(got[1].cpu(), places)
