"""The transformer of ``bench.programs.gpt``."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from bench.by_hand.params import Params
from bench.programs.gpt import HEADS, LAYERS, WORDS

__all__ = ["logits"]


def _linear(p: Params, name: str, x: Any) -> Any:
    return x @ p[f"{name}.weight"].T + p[f"{name}.bias"]


def _norm(p: Params, name: str, x: Any) -> Any:
    centered = x - x.mean(-1, keepdims=True)
    scale = jax.lax.rsqrt((centered * centered).mean(-1, keepdims=True) + 1e-5)
    return centered * scale * p[f"{name}.weight"] + p[f"{name}.bias"]


def _attend(p: Params, block: str, x: Any) -> Any:
    b, t, w = x.shape
    parts = jnp.split(_linear(p, f"{block}.qkv", x), 3, -1)
    q, k, v = (part.reshape(b, t, HEADS, -1).transpose(0, 2, 1, 3) for part in parts)
    scores = q @ k.swapaxes(-1, -2) / (w // HEADS) ** 0.5
    y = jax.nn.softmax(jnp.where(jnp.tril(jnp.ones((t, t), bool)), scores, -jnp.inf)) @ v
    return _linear(p, f"{block}.out", y.transpose(0, 2, 1, 3).reshape(b, t, w))


def logits(p: Params, ids: Any) -> Any:
    x = p["words.weight"][ids] + p["places.weight"]
    for i in range(LAYERS):
        block = f"blocks.{i}"
        x = x + _attend(p, block, _norm(p, f"{block}.before", x))
        hidden = jax.nn.gelu(_linear(p, f"{block}.up", _norm(p, f"{block}.between", x)), approximate=False)
        x = x + _linear(p, f"{block}.down", hidden)
    return _linear(p, "head", _norm(p, "norm", x)).reshape(-1, WORDS)
