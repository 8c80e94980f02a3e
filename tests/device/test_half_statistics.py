"""Shapes and dtypes of results whose Meta kernels follow other devices: as the CPU has them."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch.nn.functional import group_norm, multilabel_margin_loss

HALVES = [torch.float16, torch.bfloat16]


def _normalizations(
    dtype: torch.dtype, kind: torch.dtype | None
) -> dict[str, Callable[[str], tuple[torch.Tensor, ...]]]:
    x = torch.linspace(-2, 3, 24).reshape(2, 4, 3).to(dtype)

    def parameter(value: float, size: int, device: str) -> torch.Tensor | None:
        return None if kind is None else torch.full((size,), value, dtype=kind, device=device)

    return {
        "layer": lambda d: torch.native_layer_norm(x.to(d), [3], parameter(2, 3, d), parameter(1, 3, d), 1e-5),
        "group": lambda d: torch.native_group_norm(
            x.to(d), parameter(2, 4, d), parameter(1, 4, d), 2, 4, 3, 2, 1e-5
        ),
        "batch": lambda d: torch.native_batch_norm(
            x.to(d), parameter(2, 4, d), parameter(1, 4, d), parameter(0, 4, d), parameter(1, 4, d), True, 0.1, 1e-5
        ),
        "batch, evaluated": lambda d: torch.native_batch_norm(
            x.to(d), parameter(2, 4, d), parameter(1, 4, d), torch.zeros(4, dtype=kind or dtype, device=d),
            torch.ones(4, dtype=kind or dtype, device=d), False, 0.1, 1e-5
        ),
    }  # fmt: skip


@pytest.mark.parametrize("backend", ["reference", "xla"], indirect=True)
@pytest.mark.parametrize("parameters", ["none", "equal", "float32"])
@pytest.mark.parametrize("dtype", HALVES, ids=str)
@pytest.mark.parametrize("name", ["layer", "group", "batch", "batch, evaluated"])
def test_statistics_have_the_parameters_dtype(name: str, dtype: torch.dtype, parameters: str) -> None:
    kind = {"none": None, "equal": dtype, "float32": torch.float32}[parameters]
    use = _normalizations(dtype, kind)[name]
    for expected, actual in zip(use("cpu"), use("lazycore"), strict=True):
        assert (actual.dtype, actual.shape) == (expected.dtype, expected.shape)
        torch.testing.assert_close(actual.cpu(), expected)


@pytest.mark.parametrize("backend", ["reference", "xla"], indirect=True)
@pytest.mark.parametrize("parameters", [False, True])
@pytest.mark.parametrize("dtype", HALVES, ids=str)
def test_gradients_of_groups_of_halves_scaled_by_float32(dtype: torch.dtype, parameters: bool) -> None:
    def gradients(device: str) -> list[torch.Tensor]:
        x = torch.linspace(-2, 3, 24).reshape(2, 4, 3).to(dtype).to(device).requires_grad_()
        scales = [torch.linspace(1, 2, 4).to(device).requires_grad_() for _ in range(2)] if parameters else [None] * 2
        group_norm(x, 2, *scales).square().sum().backward()
        return [t.grad for t in (x, *scales) if t is not None]  # type: ignore[misc]

    for expected, actual in zip(gradients("cpu"), gradients("lazycore"), strict=True):
        assert actual.dtype is expected.dtype
        torch.testing.assert_close(actual.cpu(), expected, rtol=0.02, atol=0.02)


@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
@pytest.mark.parametrize("shape", [(3,), (2, 3)], ids=str)
def test_loss_of_one_row(shape: tuple[int, ...], reduction: str) -> None:
    x, target = torch.linspace(-1, 2, 3).expand(shape), torch.tensor([1, 0, -1]).expand(shape)
    expected = multilabel_margin_loss(x, target, reduction=reduction)
    actual = multilabel_margin_loss(x.to("lazycore"), target.to("lazycore"), reduction=reduction)
    assert actual.shape == expected.shape
    torch.testing.assert_close(actual.cpu(), expected)
