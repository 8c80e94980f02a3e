"""What changes from step to step in ordinary training is a value of the program, not another program: after the third
step nothing is compiled, as the ``compare`` fixture holds."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from programkit.outcome import Log, Results
from torch import nn, optim

STEPS = 8
Parameters = list[nn.Parameter]

OPTIMIZERS: dict[str, Callable[[Parameters], optim.Optimizer]] = {
    "adam": lambda p: optim.Adam(p, lr=1e-2),
    "adam, one by one": lambda p: optim.Adam(p, lr=1e-2, foreach=False),
    "adamw, amsgrad": lambda p: optim.AdamW(p, lr=1e-2, amsgrad=True),
    "adamw, fused": lambda p: optim.AdamW(p, lr=1e-2, fused=True),
    "nadam": lambda p: optim.NAdam(p, lr=1e-2),
    "sgd": lambda p: optim.SGD(p, lr=1e-2, momentum=0.9, nesterov=True),
}
SCHEDULES: dict[str, Callable[[optim.Optimizer], optim.lr_scheduler.LRScheduler]] = {
    "cosine": lambda o: optim.lr_scheduler.CosineAnnealingLR(o, STEPS),
    "one cycle": lambda o: optim.lr_scheduler.OneCycleLR(o, 1e-2, total_steps=STEPS + 1),
    "warm-up": lambda o: optim.lr_scheduler.LinearLR(o, 0.1, total_iters=4),
    "steps": lambda o: optim.lr_scheduler.StepLR(o, 3),
    "by hand": lambda o: optim.lr_scheduler.LambdaLR(o, lambda step: 1 / (1 + step)),
}


def network(device: str, dropout: float = 0.0) -> nn.Module:
    # Without a bias that the norm takes away again: its gradient is noise, which Adam would scale up.
    layers = nn.Linear(6, 8, bias=False), nn.BatchNorm1d(8), nn.Tanh(), nn.Dropout(dropout), nn.Linear(8, 3)
    return nn.Sequential(*layers).to(device)


def loss_of(model: nn.Module, device: str) -> torch.Tensor:
    return (model(torch.randn(8, 6).to(device)) - torch.randn(8, 3).to(device)).square().mean()


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_counters_and_bias_corrections(compare, name: str) -> None:
    def program(device: str, log: Log) -> Results:
        model = network(device)
        optimizer = OPTIMIZERS[name](list(model.parameters()))
        for _ in range(STEPS):
            loss = loss_of(model, device)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            log(loss)
        return model.state_dict()

    compare(program, atol=1e-4)


@pytest.mark.parametrize("name", SCHEDULES)
def test_schedules(compare, name: str) -> None:
    def program(device: str, log: Log) -> Results:
        model = network(device)
        optimizer = optim.AdamW(model.parameters(), lr=1e-2)
        schedule = SCHEDULES[name](optimizer)
        for _ in range(STEPS):
            loss = loss_of(model, device)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
            log(loss)
        return model.state_dict()

    compare(program, atol=1e-4)


def test_dropout_and_clipping(compare) -> None:
    """The draws differ each time, and so does the norm that gradients are divided by."""

    def program(device: str, log: Log) -> Results:
        model = network(device, dropout=0.3)
        optimizer = optim.SGD(model.parameters(), lr=1e-2, momentum=0.9)
        for _ in range(STEPS):
            loss = loss_of(model, device)
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 0.1)
            optimizer.step()
            log(loss)
        return model.state_dict()

    compare(program, atol=1e-4)


def test_loss_scaling(compare) -> None:
    """The scale grows every other step. A step whose gradients overflow is another program, the first time."""

    def program(device: str, log: Log) -> Results:
        model = network(device)
        optimizer = optim.AdamW(model.parameters(), lr=1e-2)
        scaler = torch.amp.GradScaler(device, init_scale=64.0, growth_interval=2)
        for step in range(STEPS):
            loss = loss_of(model, device)
            optimizer.zero_grad()
            scaler.scale(loss * (float("inf") if step in (2, 5) else 1.0)).backward()
            scaler.step(optimizer)
            scaler.update()
            log(loss)
        return {**model.state_dict(), "scale": torch.tensor(scaler.get_scale())}

    compare(program, atol=1e-4)


def test_counters_of_the_program(compare) -> None:
    """Numbers that a program counts itself: a running mean, an annealed weight, a seed of its own."""

    def program(device: str, log: Log) -> Results:
        model = network(device)
        mean = torch.zeros(8, 3, device=device)
        optimizer = optim.SGD(model.parameters(), lr=1e-2)
        for step in range(STEPS):
            out = model(torch.randn(8, 6).to(device))
            mean = mean + (out.detach() - mean) / (step + 1)
            loss = out.square().mean() + min(1.0, step / 5) * (out - mean).abs().mean() * 0.99**step
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            log(loss)
        return {**model.state_dict(), "mean": mean}

    compare(program, atol=1e-4)
