"""Special functions of 16-bit numbers are right to 16 bits: their parts compute in 32."""

from __future__ import annotations

import pytest
import torch


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
@pytest.mark.parametrize("order", [1, 2, 3])
def test_polygamma_beside_its_poles(order: int, dtype: torch.dtype) -> None:
    x = torch.tensor([-3.96875, -1.765625, 3.03125, 0.5, 8.0625]).to(dtype)
    if order > 1:
        x = x[2:]  # the CPU's own are NaN or lost beside the negative poles
    exact = torch.polygamma(order, x.double())
    actual = torch.polygamma(order, x.to("lazycore")).cpu()
    assert actual.dtype is dtype
    torch.testing.assert_close(actual, exact.to(dtype))
