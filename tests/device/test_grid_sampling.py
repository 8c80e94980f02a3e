"""Sampling by a grid in 16 bits: computed in float32 on every backend, and rounded once."""

from __future__ import annotations

import pytest
import torch
from torch.nn.functional import grid_sample


@pytest.mark.parametrize("mode", ["bilinear", "nearest", "bicubic"])
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("backend", ["reference", "xla"], indirect=True)
@pytest.mark.usefixtures("backend")
def test_positions_are_not_rounded(dtype: torch.dtype, mode: str) -> None:
    image, grid = torch.randn(2, 3, 9, 7).to(dtype), (torch.rand(2, 5, 4, 2) * 2.4 - 1.2).to(dtype)
    expected = grid_sample(image.float(), grid.float(), mode, align_corners=False).to(dtype)
    got = grid_sample(image.to("lazycore"), grid.to("lazycore"), mode, align_corners=False)
    torch.testing.assert_close(got.cpu(), expected)
