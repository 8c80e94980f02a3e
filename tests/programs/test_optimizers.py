"""All of torch.optim, in each form that torch offers for the device, against the plain form on CPU."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import pytest
import torch
from programkit.outcome import Log, Results
from torch import nn

Make = Callable[..., torch.optim.Optimizer]
optim = torch.optim
RATE, STEPS = 1e-2, 8

OPTIMIZERS: dict[str, tuple[Make, dict[str, Any]]] = {
    "sgd": (optim.SGD, {}),
    "sgd_nesterov": (optim.SGD, {"momentum": 0.9, "nesterov": True, "weight_decay": 0.01}),
    "sgd_dampened": (optim.SGD, {"momentum": 0.8, "dampening": 0.3, "maximize": True}),
    "adam": (optim.Adam, {"weight_decay": 0.01}),
    "adam_amsgrad": (optim.Adam, {"amsgrad": True, "betas": (0.8, 0.95)}),
    "adamw": (optim.AdamW, {"weight_decay": 0.1}),
    "adamax": (optim.Adamax, {}),
    "nadam": (optim.NAdam, {"decoupled_weight_decay": True, "weight_decay": 0.01}),
    "radam": (optim.RAdam, {}),
    "rmsprop": (optim.RMSprop, {"centered": True, "momentum": 0.5}),
    "rprop": (optim.Rprop, {}),
    "adagrad": (optim.Adagrad, {"lr_decay": 0.1}),
    "adadelta": (optim.Adadelta, {}),
    "asgd": (optim.ASGD, {}),
}
FUSED = ("sgd", "sgd_nesterov", "sgd_dampened", "adam", "adam_amsgrad", "adamw", "adagrad")
CAPTURABLE = [name for name in OPTIMIZERS if not name.startswith(("sgd", "adagrad"))]
# What tells float noise from a wrong step; both kinds of weights move by about RATE a step.
ATOL = 2 * RATE * STEPS / 100


def model_on(device: str) -> nn.Module:
    return nn.Sequential(nn.Linear(6, 10), nn.Tanh(), nn.Linear(10, 3)).to(device)


def fit(make: Callable[[Iterable[nn.Parameter]], torch.optim.Optimizer], device: str, log: Log) -> Results:
    """Some steps of an optimizer; a closure is given to each."""
    model = model_on(device)
    optimizer = make(model.parameters())
    for _ in range(STEPS):
        x, y = torch.randn(8, 6).to(device), torch.randn(8, 3).to(device)

        def closure(x: torch.Tensor = x, y: torch.Tensor = y) -> torch.Tensor:
            optimizer.zero_grad()
            loss = (model(x) - y).square().mean()
            loss.backward()
            return loss

        log(optimizer.step(closure))
    return model.state_dict()


def in_form(name: str, **form: bool) -> Callable[[str, Log], Results]:
    """The program of an optimizer in one form on the device, and in its loop over parameters on CPU."""
    make, options = OPTIMIZERS[name]

    def program(device: str, log: Log) -> Results:
        chosen = {"foreach": False} if device == "cpu" else form
        return fit(lambda parameters: make(parameters, lr=RATE, **options, **chosen), device, log)

    return program


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_default(compare, name: str) -> None:
    """What torch chooses for a device, which is list ops."""
    compare(in_form(name), settled=6, atol=ATOL)


@pytest.mark.slow_on("xla")
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_looped(compare, name: str) -> None:
    compare(in_form(name, foreach=False), settled=6, atol=ATOL)


@pytest.mark.slow
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_foreach(compare, name: str) -> None:
    compare(in_form(name, foreach=True), settled=6, atol=ATOL)


@pytest.mark.parametrize("name", FUSED)
def test_fused(compare, name: str) -> None:
    compare(in_form(name, fused=True), settled=4, atol=ATOL)


@pytest.mark.parametrize("name", ["sgd_nesterov", "adamw", "adagrad"])
def test_fused_scaled(compare, name: str) -> None:
    """Fused steps unscale gradients themselves, and leave out a step whose gradients overflowed."""
    make, options = OPTIMIZERS[name]

    def program(device: str, log: Log) -> Results:
        model = model_on(device)
        optimizer = make(model.parameters(), lr=RATE, fused=True, **options)
        scaler = torch.amp.GradScaler(device, init_scale=64.0, growth_interval=3)
        for step in range(STEPS):
            loss = (model(torch.randn(8, 6).to(device)) - torch.randn(8, 3).to(device)).square().mean()
            optimizer.zero_grad()
            scaler.scale(loss * (float("inf") if step == 4 else 1.0)).backward()
            scaler.step(optimizer)
            scaler.update()
            log(loss)
        return {**model.state_dict(), "scale": torch.tensor(scaler.get_scale())}

    compare(program, settled=6, atol=ATOL)


@pytest.mark.slow_on("xla")
@pytest.mark.parametrize("name", CAPTURABLE)
def test_capturable(compare, name: str) -> None:
    compare(in_form(name, capturable=True), settled=4, rtol=2e-5, atol=ATOL)


@pytest.mark.parametrize("search", [None, "strong_wolfe"])
def test_lbfgs(compare, search: str | None) -> None:
    """Its inner loop branches on values, so that each way through it is a trace of its own: a second descent from the
    same place goes the same ways."""

    def program(device: str, log: Log) -> Results:
        x, y = torch.randn(8, 6).to(device), torch.randn(8, 3).to(device)
        weight = torch.zeros(6, 3, device=device, requires_grad=True)
        for _ in range(5):
            with torch.no_grad():
                weight.zero_()
            optimizer = optim.LBFGS([weight], lr=0.1, max_iter=4, history_size=3, line_search_fn=search)

            def closure(optimizer: torch.optim.Optimizer = optimizer) -> torch.Tensor:
                optimizer.zero_grad()
                loss = (x @ weight - y).square().mean()
                loss.backward()
                return loss

            optimizer.step(closure)
            log(optimizer.step(closure))
        return {"weight": weight}

    compare(program, settled=3, atol=1e-4)


def test_adafactor(compare) -> None:
    compare(lambda device, log: fit(lambda p: optim.Adafactor(p, lr=RATE), device, log), settled=6, atol=ATOL)


def test_muon(compare) -> None:
    """Muon orthogonalizes in bfloat16, where two right answers differ in the third digit."""

    def program(device: str, log: Log) -> Results:
        weight = torch.randn(6, 4).to(device).requires_grad_()
        optimizer = optim.Muon([weight], lr=RATE)
        for _ in range(STEPS):
            loss = (torch.randn(8, 6).to(device) @ weight).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            log(loss)
        return {"weight": weight}

    compare(program, settled=4, rtol=1e-2, atol=RATE)


def test_rates_as_tensors(compare) -> None:
    """A learning rate that is a tensor on the device and is written between steps."""

    def program(device: str, log: Log) -> Results:
        rate = torch.tensor(RATE).to(device)
        model = model_on(device)
        optimizer = optim.Adam(model.parameters(), lr=rate, **({"capturable": True} if device != "cpu" else {}))
        for _ in range(STEPS):
            loss = (model(torch.randn(8, 6).to(device)) - torch.randn(8, 3).to(device)).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            rate.mul_(0.9)
            log(loss)
        return {**model.state_dict(), "rate": rate}

    compare(program, settled=4, rtol=2e-5, atol=ATOL)


@pytest.mark.usefixtures("backend")
def test_fused_refuses_complex() -> None:
    weight = torch.zeros(3, dtype=torch.complex64, device="lazycore", requires_grad=True)
    weight.grad = torch.ones_like(weight)
    with pytest.raises(RuntimeError, match="`fused=True` requires all the params to be floating point"):
        optim.Adam([weight], fused=True).step()


def test_capturable_refuses_cpu() -> None:
    weight = torch.zeros(3, requires_grad=True)
    weight.grad = torch.ones(3)
    with pytest.raises(AssertionError, match="params and state_steps must be on supported devices"):
        optim.Adam([weight], capturable=True).step()
