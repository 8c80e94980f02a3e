"""Reductions that have nothing to reduce, on a backend whose loops need at least one step."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

import lazycore

Use = Callable[[torch.Tensor], torch.Tensor]

USES: dict[str, Use] = {
    "sum": lambda x: x.sum(),
    "sum along": lambda x: x.sum(1, keepdim=True),
    "sum in another dtype": lambda x: x.sum((0, 1), dtype=torch.float64),
    "prod": lambda x: x.prod(),
    "prod along": lambda x: x.prod(1),
    "all": lambda x: x.all(),
    "all along": lambda x: x.all(1, keepdim=True),
    "any along": lambda x: x.any(1),
    "mean along": lambda x: x.mean(1),
}


@pytest.mark.parametrize("name", USES)
def test_reduction(name: str) -> None:
    pytest.importorskip("tvm")
    x = torch.zeros(3, 0)
    expected = USES[name](x)
    with lazycore.use_backend("tvm"):
        lazycore.reset_metrics()
        actual = USES[name](x.to("lazycore")).cpu()
        assert lazycore.metrics()["fallbacks"] == {}
    assert actual.dtype is expected.dtype
    torch.testing.assert_close(actual, expected, equal_nan=True)
