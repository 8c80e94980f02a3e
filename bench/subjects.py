"""Ways to run one training step: PyTorch eager, torch.compile, jax by hand, lazycore. All minimize with AdamW."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

import jax
import jax.numpy as jnp
import torch
from torch import nn

import lazycore  # noqa: F401 - it is what makes the device
from bench.programs import Program

__all__ = ["SUBJECTS", "Step"]

RATE, BETAS, EPSILON, DECAY = 1e-3, (0.9, 0.999), 1e-8, 0.01


class Step:
    """One program under one way. ``run`` trains a step and returns without waiting; ``loss`` waits for the last one."""

    def __init__(self, name: str, run: Callable[[], object], loss: Callable[[], float]) -> None:
        self.name, self.run, self.loss = name, run, loss

    def seconds(self, steps: int, every: int) -> float:
        """Mean seconds of a step, waiting after each ``every`` steps."""
        start = time.perf_counter()
        for step in range(steps):
            self.run()
            if (step + 1) % every == 0:
                self.loss()
        return (time.perf_counter() - start) / steps


def _torch(name: str, program: Program, device: str, compiled: bool = False) -> Step:
    torch.manual_seed(0)
    module = program.module().to(device)
    *inputs, targets = (t.to(device) for t in program.batch())
    optimizer = torch.optim.AdamW(module.parameters(), RATE, BETAS, EPSILON, DECAY)
    forward = torch.compile(module) if compiled else module
    last: list[torch.Tensor] = []

    def run() -> None:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(forward(*inputs), targets)
        loss.backward()
        optimizer.step()
        last[:] = [loss.detach()]

    return Step(name, run, lambda: last[0].item())


def eager(program: Program) -> Step:
    """PyTorch on CPU."""
    return _torch("eager", program, "cpu")


def compiled(program: Program) -> Step:
    """``torch.compile`` of the module; the optimizer is PyTorch's own."""
    return _torch("torch.compile", program, "cpu", compiled=True)


def lazy(program: Program) -> Step:
    """lazycore, on the backend that is selected."""
    return _torch("lazycore", program, "lazycore")


def by_hand(program: Program) -> Step:
    """A jitted step of jax arrays, with the parameters and moments donated."""
    torch.manual_seed(0)
    state: dict[str, Any] = {n: jnp.asarray(t.detach().numpy()) for n, t in program.module().named_parameters()}
    *inputs, targets = (jnp.asarray(t.numpy()) for t in program.batch())
    moments = tuple({n: jnp.zeros_like(a) for n, a in state.items()} for _ in range(2))

    def loss(p: Mapping[str, Any]) -> Any:
        scores = jax.nn.log_softmax(program.logits(p, *inputs))
        return -jnp.take_along_axis(scores, targets[:, None], 1).mean()

    def step(p: Any, m: Any, v: Any, count: Any) -> Any:
        value, gradient = jax.value_and_grad(loss)(p)
        m = {n: BETAS[0] * m[n] + (1 - BETAS[0]) * g for n, g in gradient.items()}
        v = {n: BETAS[1] * v[n] + (1 - BETAS[1]) * g * g for n, g in gradient.items()}
        scales = 1 - BETAS[0] ** count, 1 - BETAS[1] ** count
        p = {
            n: a * (1 - RATE * DECAY) - RATE * (m[n] / scales[0]) / (jnp.sqrt(v[n] / scales[1]) + EPSILON)
            for n, a in p.items()
        }
        return value, p, m, v

    jitted = jax.jit(step, donate_argnums=(0, 1, 2))
    held: list[Any] = [None, state, *moments, 0]

    def run() -> None:
        held[4] += 1
        held[:4] = jitted(*held[1:4], float(held[4]))

    return Step("jax by hand", run, lambda: float(held[0]))


SUBJECTS: Mapping[str, Callable[[Program], Step]] = {
    "eager": eager, "torch.compile": compiled, "jax by hand": by_hand, "lazycore": lazy,
}  # fmt: skip
