"""A few steps of training and evaluation, the same on every device."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import nn

import lazycore

__all__ = ["Outcome", "difference", "noise", "train"]

_LEAST = 1e-6
_NUDGE = 1e-7
"""About half a unit in float32's last place."""


@dataclass(frozen=True)
class Outcome:
    """``losses``: of the two steps and the evaluation. ``compiles``: the device's count after these, and after each of
    two more rounds of a step and an evaluation."""

    losses: tuple[float, float, float]
    compiles: tuple[int, ...]


def train(
    model: nn.Module, inputs: dict[str, Any], device: str, dtype: torch.dtype | None = None, descent: bool = False
) -> Outcome:
    """Train a copy of the model with clipped gradients, by AdamW or plain ``descent``. Floats are cast to ``dtype``."""
    model = copy.deepcopy(model).to(device, dtype)
    inputs = {name: _moved(x, device, dtype) for name, x in inputs.items()}
    weights = model.parameters()
    optimizer = torch.optim.SGD(weights, lr=1e-2) if descent else torch.optim.AdamW(weights, lr=1e-3)
    losses = tuple(_step(model, inputs, optimizer, seed) for seed in (0, 1))
    losses += (_evaluation(model, inputs),)
    compiles = [lazycore.metrics()["compiles"]]
    for seed in (2, 3) if device != "cpu" else ():
        _step(model, inputs, optimizer, seed)
        _evaluation(model, inputs)
        compiles.append(lazycore.metrics()["compiles"])
    return Outcome(losses, tuple(compiles))


def _step(model: nn.Module, inputs: dict[str, Any], optimizer: torch.optim.Optimizer, seed: int) -> float:
    model.train()
    torch.manual_seed(seed)  # for dropout
    np.random.seed(seed)  # for masks of inputs
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


def noise(model: nn.Module, inputs: dict[str, Any], eager: Outcome, descent: bool) -> float:
    """How far the CPU is from itself where only rounding differs: in double precision, by other convolutions, from
    weights that differ in their last bit."""
    others = [train(model, inputs, "cpu", torch.float64, descent)]
    with torch.backends.mkldnn.flags(enabled=False):
        others.append(train(model, inputs, "cpu", descent=descent))
    others += [train(_nudged(model, seed), inputs, "cpu", descent=descent) for seed in range(3)]
    return max(difference(eager, other) for other in others)


def _nudged(model: nn.Module, seed: int) -> nn.Module:
    nudged = copy.deepcopy(model)
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for weight in nudged.parameters():
            weight.mul_(1 + _NUDGE * torch.randn(weight.shape, generator=generator))
    return nudged
