"""The op forms of batch normalization that torch's compilers and newer dispatch use."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

import lazycore

aten = torch.ops.aten
Form = Callable[..., tuple[torch.Tensor, ...]]

FORMS: dict[str, Form] = {
    "legit, training": lambda x, w, b, m, v: aten._native_batch_norm_legit(x, w, b, m, v, True, 0.3, 1e-5),
    "legit, evaluation": lambda x, w, b, m, v: aten._native_batch_norm_legit(x, w, b, m, v, False, 0.3, 1e-5),
    "with update": lambda x, w, b, m, v: aten._batch_norm_with_update(x, w, b, m, v, 0.3, 1e-5),
}


@pytest.mark.parametrize("name", FORMS)
def test_results_and_running_statistics_are_the_cpus(name: str) -> None:
    x, running = torch.randn(4, 3, 5), (torch.randn(3), torch.rand(3))
    here = [x, torch.randn(3), torch.randn(3), *(r.clone() for r in running)]
    there = [t.to("lazycore") for t in here]
    expected, got = FORMS[name](*here), FORMS[name](*there)
    torch.testing.assert_close([t.cpu() for t in got], list(expected))
    torch.testing.assert_close([t.cpu() for t in there[3:]], here[3:])
    assert lazycore.metrics()["fallbacks"] == {}


@pytest.mark.parametrize("backend", ["reference", "xla"])
@pytest.mark.parametrize("memory_format", [torch.contiguous_format, torch.channels_last])
def test_a_mean_far_from_zero_costs_no_more_digits_than_on_the_cpu(memory_format: torch.memory_format) -> None:
    x = (1e4 + 1e-2 * torch.randn(8, 4, 9, 9)).to(memory_format=memory_format)
    gradient = torch.randn_like(x)
    exact, cpu, device = (
        _normalized(x.to(dtype=dtype, device=where), gradient.to(dtype=dtype, device=where))
        for dtype, where in ((torch.float64, "cpu"), (torch.float32, "cpu"), (torch.float32, "lazycore"))
    )
    for wanted, near, got in zip(exact, cpu, device, strict=True):
        scale = wanted.abs().max()
        assert (got - wanted).abs().max() / scale <= 2 * (near - wanted).abs().max() / scale + 1e-5


def _normalized(x: torch.Tensor, gradient: torch.Tensor) -> list[torch.Tensor]:
    """The normalized batch, its deviation and its gradient, as float64 on the CPU."""
    x = x.detach().requires_grad_()
    y, _, invstd = aten.native_batch_norm(x, None, None, None, None, True, 0.1, 1e-12)
    y.backward(gradient)
    assert x.grad is not None
    return [t.detach().cpu().double() for t in (y, invstd, x.grad)]
