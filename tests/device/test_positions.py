"""Reads at positions modulo a power of two, several in one loop: what a compiler may take for neighbours in memory."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

Tensor = torch.Tensor
pytestmark = pytest.mark.parametrize("backend", ["tvm,reference", "xla", "reference"], indirect=True)

CASES: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "a row added, then flattened": lambda x, y: (x + y[:, None]).reshape(len(x), -1) * 2,
    "sums added, then flattened": lambda x, y: (x + x.sum(1, keepdim=True)).reshape(len(x), -1) - y[:, :1],
    "two repeated": lambda x, y: x.repeat(1, 2, 4) + y[:, None].repeat(1, 2 * x.shape[1], 4),
    "repeated in two ways": lambda _x, y: y.repeat_interleave(4, 1) + y.repeat(1, 4),
    "two transposed, then flattened": lambda x, y: (
        x.mT.reshape(len(x), -1) + (x.mT * y[:, :, None]).reshape(len(x), -1)
    ),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("width", [2, 4, 8, 12])
@pytest.mark.parametrize("dtype", [torch.float32, torch.int64], ids=str)
def test_values_are_those_of_the_cpu(name: str, width: int, dtype: torch.dtype) -> None:
    generator = torch.Generator().manual_seed(width)
    x = torch.randint(-9, 9, (9, 4, width), generator=generator).to(dtype)
    y = torch.randint(-9, 9, (9, width), generator=generator).to(dtype)
    actual = CASES[name](x.to("lazycore"), y.to("lazycore")).cpu()
    torch.testing.assert_close(actual, CASES[name](x, y))
