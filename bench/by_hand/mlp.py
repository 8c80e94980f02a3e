"""The perceptron of ``bench.programs.mlp``."""

from __future__ import annotations

from typing import Any

import jax

from bench.by_hand.params import Params

__all__ = ["logits"]


def logits(p: Params, x: Any) -> Any:
    for layer in (0, 2, 4):
        x = x @ p[f"{layer}.weight"].T + p[f"{layer}.bias"]
        x = jax.nn.relu(x) if layer < 4 else x
    return x
