"""Embedding bags: values and gradients are the CPU's; sums and means are decomposed, the rest runs in PyTorch."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch.nn.functional import embedding_bag

import lazycore

WEIGHT = torch.linspace(-2, 3, 15).reshape(5, 3)
INDICES = torch.tensor([4, 1, 1, 0, 3, 1])
OFFSETS = torch.tensor([0, 2, 2, 6])  # the second bag is empty, and so is the last
SCALES = torch.tensor([1.0, -2.0, 0.5, 3.0, 0.25, 1.5])

CASES: dict[str, dict[str, Any]] = {
    "sum": {"mode": "sum"},
    "mean": {},
    "max": {"mode": "max"},
    "weighted": {"mode": "sum", "per_sample_weights": SCALES},
    "padded sum": {"mode": "sum", "padding_idx": 1},
    "padded mean": {"padding_idx": 1},
    "padded from the end": {"padding_idx": -4},
    "weighted and padded": {"mode": "sum", "per_sample_weights": SCALES, "padding_idx": 1},
    "last offset": {"include_last_offset": True},
    "by frequency": {"scale_grad_by_freq": True},
    "padded by frequency": {"scale_grad_by_freq": True, "padding_idx": 1, "mode": "sum"},
}


def _run(device: str, dtype: torch.dtype, options: dict[str, Any]) -> list[torch.Tensor]:
    weight = WEIGHT.to(dtype).to(device).requires_grad_()
    scales = options.get("per_sample_weights")
    leaves = [weight]
    if scales is not None:
        leaves.append(scales.to(dtype).to(device).requires_grad_())
        options = options | {"per_sample_weights": leaves[1]}
    out = embedding_bag(INDICES.to(device), weight, OFFSETS.to(device), **options)
    slope = torch.arange(out.numel(), dtype=dtype, device=device).reshape(out.shape) - 3
    return [out.detach(), *torch.autograd.grad(out, leaves, slope)]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16], ids=str)
@pytest.mark.parametrize("name", CASES)
def test_values_and_gradients(name: str, dtype: torch.dtype) -> None:
    for expected, actual in zip(_run("cpu", dtype, CASES[name]), _run("lazycore", dtype, CASES[name]), strict=True):
        assert actual.dtype is expected.dtype
        torch.testing.assert_close(actual.cpu(), expected)


@pytest.mark.parametrize("name", [name for name in CASES if name != "max" and "frequency" not in name])
def test_no_fallback(name: str) -> None:
    lazycore.reset_metrics()
    _run("lazycore", torch.float32, CASES[name])
    assert not lazycore.metrics()["fallbacks"]


def test_no_indices() -> None:
    none, offsets = torch.zeros(0, dtype=torch.int64), torch.zeros(2, dtype=torch.int64)
    actual = embedding_bag(none.to("lazycore"), WEIGHT.to("lazycore"), offsets.to("lazycore"))
    assert torch.equal(actual.cpu(), embedding_bag(none, WEIGHT, offsets))


@pytest.mark.parametrize(
    ("indices", "offsets", "options"),
    [
        (INDICES, OFFSETS.to(torch.float32), {}),
        (INDICES.to(torch.float32), OFFSETS, {}),
        (INDICES, OFFSETS.reshape(2, 2), {}),
        (INDICES, OFFSETS, {"per_sample_weights": SCALES[:3], "mode": "sum"}),
        (INDICES, OFFSETS, {"padding_idx": 9}),
    ],
)
def test_what_the_cpu_refuses(indices: torch.Tensor, offsets: torch.Tensor, options: dict[str, Any]) -> None:
    def use(device: str) -> None:
        moved = {k: v.to(device) if isinstance(v, torch.Tensor) else v for k, v in options.items()}
        embedding_bag(indices.to(device), WEIGHT.to(device), offsets.to(device), **moved)

    with pytest.raises((RuntimeError, ValueError, AssertionError)) as expected:
        use("cpu")
    with pytest.raises(type(expected.value)) as actual:
        use("lazycore")
    assert str(actual.value) == str(expected.value)


@pytest.mark.parametrize("backend", ["reference", "xla"], indirect=True)
@pytest.mark.parametrize("mode", ["sum", "mean", "max"])
def test_no_bags(mode: str) -> None:
    indices = torch.zeros((0, 3), dtype=torch.int64)
    expected = embedding_bag(indices, WEIGHT, mode=mode)
    got = embedding_bag(indices.to("lazycore"), WEIGHT.to("lazycore"), mode=mode)
    assert got.cpu().shape == expected.shape == (0, 3)


@pytest.mark.parametrize("backend", ["reference", "xla"], indirect=True)
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
@pytest.mark.parametrize("norm", [1.0, 2.0, float("inf")])
@pytest.mark.parametrize("indices", [[[3, 1], [1, 4]], [], 2], ids=str)
def test_rows_that_are_looked_up_are_kept_short(indices: Any, norm: float, dtype: torch.dtype) -> None:
    def run(device: str) -> list[torch.Tensor]:
        table = WEIGHT.to(dtype).to(device)
        places = torch.tensor(indices, dtype=torch.int64).to(device)
        found = torch.nn.functional.embedding(places, table, max_norm=1.5, norm_type=norm)
        return [found.cpu(), table.cpu()]

    expected = run("cpu")
    lazycore.reset_metrics()
    torch.testing.assert_close(run("lazycore"), expected)
    assert lazycore.metrics()["fallbacks"] == {}
