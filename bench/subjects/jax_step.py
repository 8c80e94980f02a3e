"""A jitted step of jax arrays, with the parameters and moments donated."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import torch

from bench.by_hand import LOGITS
from bench.by_hand.params import Params
from bench.programs import Program
from bench.subjects.step import BETAS, DECAY, EPSILON, RATE, Step

__all__ = ["step"]


def step(program: Program, compiled: bool = False) -> Step:
    """A step of the program written by hand."""
    assert not compiled, "jax compiles in any case"
    torch.manual_seed(0)
    params = {n: jnp.asarray(t.detach().numpy()) for n, t in program.module().named_parameters()}
    *inputs, targets = (jnp.asarray(t.numpy()) for t in program.batch())
    network = LOGITS[program.network]

    def loss(p: Params) -> Any:
        scores = jax.nn.log_softmax(network(p, *inputs))
        return -jnp.take_along_axis(scores, targets[:, None], 1).mean()

    return _sgd(loss, params) if program.optimizer == "sgd" else _adamw(loss, params)


def _sgd(loss: Any, params: Any) -> Step:
    def update(p: Any) -> Any:
        value, gradient = jax.value_and_grad(loss)(p)
        return value, {n: a - RATE * gradient[n] for n, a in p.items()}

    jitted = jax.jit(update, donate_argnums=0)
    held: list[Any] = [None, params]

    def run() -> None:
        held[:] = jitted(held[1])

    return Step(run, lambda: float(held[0]))


def _adamw(loss: Any, params: Any) -> Step:
    def update(p: Any, m: Any, v: Any, count: Any) -> Any:
        value, gradient = jax.value_and_grad(loss)(p)
        m = {n: BETAS[0] * m[n] + (1 - BETAS[0]) * g for n, g in gradient.items()}
        v = {n: BETAS[1] * v[n] + (1 - BETAS[1]) * g * g for n, g in gradient.items()}
        scales = 1 - BETAS[0] ** count, 1 - BETAS[1] ** count
        p = {
            n: a * (1 - RATE * DECAY) - RATE * (m[n] / scales[0]) / (jnp.sqrt(v[n] / scales[1]) + EPSILON)
            for n, a in p.items()
        }
        return value, p, m, v

    jitted = jax.jit(update, donate_argnums=(0, 1, 2))
    moments = [{n: jnp.zeros_like(a) for n, a in params.items()} for _ in range(2)]
    held: list[Any] = [None, params, *moments]
    count = 0

    def run() -> None:
        nonlocal count
        count += 1
        held[:] = jitted(*held[1:], float(count))

    return Step(run, lambda: float(held[0]))
