"""``out=`` of another dtype than the result's: computed in, cast to or refused, as on the CPU."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

Op = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]

OPS: dict[str, Op] = {
    "sum": lambda x, out: torch.sum(x, 0, out=out),
    "sum in float32": lambda x, out: torch.sum(x, 0, dtype=torch.float32, out=out),
    "prod": lambda x, out: torch.prod(x, 0, out=out),
    "nansum": lambda x, out: torch.nansum(x, 0, out=out),
    "mean": lambda x, out: torch.mean(x, 0, out=out),
    "cumsum": lambda x, out: torch.cumsum(x, 0, out=out),
    "all": lambda x, out: torch.all(x, 0, out=out),
    "amax": lambda x, out: torch.amax(x, 0, out=out),
    "add": lambda x, out: torch.add(x, x, out=out),
    "mm": lambda x, out: torch.mm(x, x.t(), out=out),
}
DTYPES = (torch.float32, torch.float64, torch.int64, torch.bool, torch.complex64, torch.float16)


def outcome(op: Op, x: torch.Tensor, dtype: torch.dtype, device: str) -> torch.Tensor | Exception:
    try:
        return op(x.to(device), torch.empty(0, dtype=dtype, device=device)).cpu()
    except RuntimeError as error:
        return error


@pytest.mark.parametrize("source", [torch.float32, torch.int64, torch.bool], ids=str)
@pytest.mark.parametrize("name", OPS)
def test_as_on_the_cpu(name: str, source: torch.dtype) -> None:
    x = (torch.arange(6.0).reshape(2, 3) * 1.5 + 0.7).to(source)
    for dtype in DTYPES:
        expected, actual = (outcome(OPS[name], x, dtype, device) for device in ("cpu", "lazycore"))
        if isinstance(expected, Exception):
            assert type(actual) is type(expected), f"{dtype}: {actual!r} where the CPU has {expected!r}"
        else:
            assert isinstance(actual, torch.Tensor), f"{dtype}: {actual!r}"
            torch.testing.assert_close(actual, expected)


def test_a_sum_into_integers_truncates_each_term() -> None:
    x, out = torch.tensor([0.9, 1.9, 2.9], device="lazycore"), torch.zeros((), dtype=torch.int64, device="lazycore")
    assert torch.sum(x, 0, out=out).item() == 3
