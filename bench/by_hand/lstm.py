"""The unrolled recurrent network of ``bench.programs.lstm``."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from bench.by_hand.params import Params
from bench.programs.lstm import WIDTH

__all__ = ["logits"]


def logits(p: Params, x: Any) -> Any:
    h = c = jnp.zeros((x.shape[0], WIDTH), x.dtype)
    for step in range(x.shape[1]):
        inner = x[:, step] @ p["cell.weight_ih"].T + p["cell.bias_ih"]
        i, f, g, o = jnp.split(inner + h @ p["cell.weight_hh"].T + p["cell.bias_hh"], 4, -1)
        c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
        h = jax.nn.sigmoid(o) * jnp.tanh(c)
    return h @ p["head.weight"].T + p["head.bias"]
