"""Numbers beside 16-bit floats are not rounded to 16 bits: results are the CPU's, bit by bit."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

Use = Callable[[torch.Tensor, float], torch.Tensor]

# The CPU rounds summands and multiples of them, and keeps factors.
USES: dict[str, Use] = {
    "add": lambda x, n: x + n,
    "subtract": lambda x, n: x - n,
    "subtract from": lambda x, n: n - x,
    "multiply": lambda x, n: x * n,
    "divide": lambda x, n: x / n,
    "multiply in place": lambda x, n: x.clone().mul_(n),
    "addcmul": lambda x, n: torch.addcmul(x, x, x, value=n),
    "addcdiv": lambda x, n: torch.addcdiv(x, x, x + 2, value=n),
    "lerp": lambda x, n: torch.lerp(x, x * 2, n),
    "multiply by a scalar tensor": lambda x, n: x * torch.tensor(n, device=x.device),
    "divide by a scalar tensor": lambda x, n: x / torch.tensor(n, device=x.device),
}


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
@pytest.mark.parametrize("name", USES)
def test_results_are_the_cpus(name: str, dtype: torch.dtype) -> None:
    x = torch.linspace(-1, 40, 300).to(dtype)
    for number in (0.999, 1e5, 1e-5, 0.1, 3.0, 0.5):
        expected, got = USES[name](x, number), USES[name](x.to("lazycore"), number).cpu()
        assert got.dtype is dtype
        assert torch.equal(got, expected), f"{number}: {(got != expected).sum()} of {len(x)} differ"


def test_numbers_out_of_an_integers_range_wrap() -> None:
    x = torch.tensor([1, 200, 255], dtype=torch.uint8)
    for number in (-1, 300, -1):
        assert (x.to("lazycore") + number).cpu().equal(x + number)
