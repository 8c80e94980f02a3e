"""A few steps of training and evaluation, the same on every device."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

import lazycore

__all__ = ["Outcome", "difference", "train"]

_LEAST = 1e-6


@dataclass(frozen=True)
class Outcome:
    """``losses``: of the two steps and the evaluation. ``compiles``: the device's count after these, and after another
    step and evaluation."""

    losses: tuple[float, float, float]
    compiles: tuple[int, int]


def train(model: nn.Module, inputs: dict[str, Any], device: str, dtype: torch.dtype | None = None) -> Outcome:
    """Train a copy of the model with AdamW and clipped gradients. Floats are cast to ``dtype``."""
    model = copy.deepcopy(model).to(device, dtype)
    inputs = {name: _moved(x, device, dtype) for name, x in inputs.items()}
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    losses = tuple(_step(model, inputs, optimizer, seed) for seed in (0, 1))
    losses += (_evaluation(model, inputs),)
    compiles = lazycore.metrics()["compiles"]
    if device != "cpu":
        _step(model, inputs, optimizer, 2)
        _evaluation(model, inputs)
    return Outcome(losses, (compiles, lazycore.metrics()["compiles"]))


def _step(model: nn.Module, inputs: dict[str, Any], optimizer: torch.optim.Optimizer, seed: int) -> float:
    model.train()
    torch.manual_seed(seed)  # for dropout
    loss = _loss(model(**inputs))
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    return loss.item()


def _evaluation(model: nn.Module, inputs: dict[str, Any]) -> float:
    model.eval()
    with torch.no_grad():
        return _loss(model(**inputs)).item()


def _moved(x: Any, device: str, dtype: torch.dtype | None) -> Any:
    if not isinstance(x, torch.Tensor):
        return x
    return x.to(device, dtype if x.is_floating_point() else None)


def _loss(out: Any) -> torch.Tensor:
    """What the model calls its loss; else, of its first output, the mean square."""
    loss = getattr(out, "loss", None)
    first = out[0] if loss is None else loss
    return first if first.dim() == 0 else first.square().mean()


def difference(some: Outcome, others: Outcome) -> float:
    """The largest relative difference of their losses; NaN where one is."""
    pairs = zip(some.losses, others.losses, strict=True)
    return float(torch.tensor([abs(a - b) / max(abs(b), _LEAST) for a, b in pairs]).max())
