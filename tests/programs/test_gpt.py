"""Training transformers: attention of all kinds, schedules, clipping, accumulation, checkpointing."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from networks.gpt import GPT, Shape
from programkit.outcome import Log, Results
from torch import nn
from torch.optim.lr_scheduler import CosineAnnealingLR, LRScheduler, OneCycleLR

SHAPES = {
    "learned": Shape(),
    "rotary": Shape(rotary=True, groups=2),
    "dropout": Shape(dropout=0.1),
    "checkpointed": Shape(rotary=True, checkpoint="hooks"),
    "checkpointed_reentrant": Shape(dropout=0.1, checkpoint="reentrant"),
    "grouped": Shape(groups=1),
}
RATE, STEPS = 1e-3, 7


def language_loss(model: nn.Module, device: str, mask: torch.Tensor | None = None) -> torch.Tensor:
    """The loss of predicting random tokens from those before."""
    ids = torch.randint(0, 23, (3, 13)).to(device)
    logits = model(ids[:, :-1], mask=mask) if mask is not None else model(ids[:, :-1])
    return nn.functional.cross_entropy(logits.flatten(0, 1), ids[:, 1:].flatten())


def fit(
    model: nn.Module, device: str, log: Log, *, rounds: int = 1, mask: torch.Tensor | None = None,
    schedule: Callable[[torch.optim.Optimizer], LRScheduler] | None = None,
) -> Results:  # fmt: skip
    """Train by AdamW with clipped gradients, of ``rounds`` batches a step."""
    optimizer = torch.optim.AdamW(model.parameters(), lr=RATE, weight_decay=0.1, betas=(0.9, 0.95))
    rates = schedule(optimizer) if schedule else None
    for _ in range(STEPS):
        optimizer.zero_grad(set_to_none=True)
        for _ in range(rounds):
            loss = language_loss(model, device, mask) / rounds
            loss.backward()
        norm = nn.utils.clip_grad_norm_(model.parameters(), 0.5)
        optimizer.step()
        if rates:
            rates.step()
        log(loss + norm)
    return model.state_dict()


@pytest.mark.parametrize("shape", SHAPES)
def test_gpt(compare, shape: str) -> None:
    compare(lambda device, log: fit(GPT(SHAPES[shape]).to(device), device, log), atol=2 * RATE * STEPS)


def test_accumulated(compare) -> None:
    compare(lambda device, log: fit(GPT(Shape()).to(device), device, log, rounds=3), atol=2 * RATE * STEPS)


SCHEDULES: dict[str, Callable[[torch.optim.Optimizer], LRScheduler]] = {
    "cosine": lambda optimizer: CosineAnnealingLR(optimizer, T_max=STEPS),
    "one_cycle": lambda optimizer: OneCycleLR(optimizer, max_lr=RATE, total_steps=STEPS + 1),
}


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_scheduled(compare, schedule: str) -> None:
    def program(device: str, log: Log) -> Results:
        return fit(GPT(Shape(layers=1)).to(device), device, log, schedule=SCHEDULES[schedule])

    compare(program, atol=2 * RATE * STEPS, settled=4)


def padded() -> torch.Tensor:
    """Causal for 3 texts that begin at places 0, 1 and 2; what comes before sees only itself."""
    begins = torch.arange(12) >= torch.tensor([[0], [1], [2]])
    causal = torch.ones(12, 12, dtype=torch.bool).tril()
    return (causal & begins[:, None] | torch.eye(12, dtype=torch.bool))[:, None]


MASKS: dict[str, Callable[[], torch.Tensor]] = {
    "bool": lambda: torch.ones(12, 12, dtype=torch.bool).tril(),
    "added": lambda: torch.full((3, 1, 12, 12), float("-inf")).triu(1),
    "padding": padded,
}


@pytest.mark.parametrize("mask", MASKS)
def test_masked(compare, mask: str) -> None:
    def program(device: str, log: Log) -> Results:
        return fit(GPT(Shape(layers=1)).to(device), device, log, mask=MASKS[mask]().to(device))

    compare(program, atol=2 * RATE * STEPS)
