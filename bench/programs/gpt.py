"""A decoder-only transformer."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import torch
from torch import nn
from torch.nn.functional import scaled_dot_product_attention

from bench.programs.program import Params, Program

__all__ = ["GPT"]

WORDS, LENGTH, WIDTH, LAYERS, HEADS, BATCH = 1000, 64, 128, 4, 4, 8


class Block(nn.Module):
    """Attention and a feed-forward part, each normalized before and added to its input; (batch, time, width)."""

    def __init__(self) -> None:
        super().__init__()
        self.before, self.between = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        b, t, w = x.shape
        q, k, v = (p.view(b, t, HEADS, -1).transpose(1, 2) for p in self.qkv(self.before(x)).chunk(3, -1))
        y = scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(y.transpose(1, 2).reshape(b, t, w))
        return x + self.down(nn.functional.gelu(self.up(self.between(x))))


class Network(nn.Module):
    """Ids (batch, time) -> logits (batch * time, words)."""

    def __init__(self) -> None:
        super().__init__()
        self.words, self.places = nn.Embedding(WORDS, WIDTH), nn.Embedding(LENGTH, WIDTH)
        self.blocks = nn.Sequential(*(Block() for _ in range(LAYERS)))
        self.norm, self.head = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, WORDS)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        x = self.words(ids) + self.places(torch.arange(ids.shape[1], device=ids.device))
        return self.head(self.norm(self.blocks(x))).flatten(0, 1)


def batch() -> tuple[torch.Tensor, ...]:
    return torch.randint(0, WORDS, (BATCH, LENGTH)), torch.randint(0, WORDS, (BATCH * LENGTH,))


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


GPT = Program("gpt", Network, batch, logits)
