"""An op that no backend compiles in the middle of a differentiated program: it runs eagerly, and is counted."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch

STEPS = 6


@torch.library.custom_op("lazycore_tests::bend", mutates_args=(), device_types="cpu")
def bend(x: torch.Tensor, rate: float) -> torch.Tensor:
    """A user's own op, known to torch alone: ``x / (1 + rate * |x|)``."""
    return x / (1 + rate * x.abs())


@bend.register_fake
def _(x: torch.Tensor, rate: float) -> torch.Tensor:  # noqa: ARG001
    return torch.empty_like(x)


def _save(ctx: Any, inputs: tuple[Any, ...], output: torch.Tensor) -> None:  # noqa: ARG001
    ctx.save_for_backward(inputs[0])
    ctx.rate = inputs[1]


def _gradient(ctx: Any, grad: torch.Tensor) -> tuple[torch.Tensor, None]:
    (x,) = ctx.saved_tensors
    return grad / (1 + ctx.rate * x.abs()).square(), None


bend.register_autograd(_gradient, setup_context=_save)


def with_own_op(device: str, log: Callable[[torch.Tensor], None]) -> Mapping[str, torch.Tensor]:
    weight = torch.randn(6, 4).to(device).requires_grad_()
    optimizer = torch.optim.SGD([weight], lr=0.05)
    for _ in range(STEPS):
        x = torch.randn(5, 6).to(device)
        loss = bend(torch.tanh(x @ weight), 0.7).square().mean() + weight.square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        log(loss)
    return {"weight": weight}


def spectral_penalty(device: str, log: Callable[[torch.Tensor], None]) -> Mapping[str, torch.Tensor]:
    weight = torch.randn(6, 4).to(device).requires_grad_()
    optimizer = torch.optim.SGD([weight], lr=0.05)
    for _ in range(STEPS):
        x = torch.randn(5, 6).to(device)
        product = torch.tanh(x @ weight)
        singular = torch.linalg.svd(product, full_matrices=False).S
        loss = singular.sum() + weight.square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        log(loss)
    return {"weight": weight}


def test_own_op_in_the_middle(compare) -> None:
    outcome = compare(with_own_op, fallbacks=("lazycore_tests.bend.default",))
    assert outcome.fallbacks["lazycore_tests.bend.default"] == STEPS


def test_svd_in_the_middle(compare) -> None:
    """A factorization and its gradient are compiled like anything else."""
    compare(spectral_penalty)
