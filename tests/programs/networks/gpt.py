"""A decoder-only transformer: causal attention with grouped queries, rotary embeddings, tied weights."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import nn
from torch.nn.functional import scaled_dot_product_attention
from torch.utils.checkpoint import checkpoint

__all__ = ["GPT", "Cache", "Shape"]


@dataclass(frozen=True)
class Shape:
    """``groups``: heads of keys and values, fewer than ``heads`` for grouped queries; ``rotary``: rotary embeddings
    instead of learned positions, with RMSNorm and gated layers instead of LayerNorm and GELU; ``checkpoint``: how
    layers are computed again in the backward pass, "reentrant" or "hooks"; "" where they are not."""

    vocabulary: int = 23
    length: int = 12
    width: int = 16
    layers: int = 2
    heads: int = 4
    groups: int = 4
    dropout: float = 0.0
    rotary: bool = False
    checkpoint: str = ""


class Cache:
    """Keys and values of the positions seen, of each layer; grown by concatenation."""

    def __init__(self) -> None:
        self.keys: dict[int, torch.Tensor] = {}
        self.values: dict[int, torch.Tensor] = {}

    def extend(self, layer: int, key: torch.Tensor, value: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """All keys and values of a layer, new ones (batch, groups, time, size) included."""
        if layer in self.keys:
            key, value = torch.cat([self.keys[layer], key], 2), torch.cat([self.values[layer], value], 2)
        self.keys[layer], self.values[layer] = key, value
        return key, value


def rotate(x: torch.Tensor, positions: torch.Tensor) -> torch.Tensor:
    """Rotary embedding (Su et al., 2021) of (batch, heads, time, size) at int64 ``positions`` (time,)."""
    half = x.shape[-1] // 2
    rates = 10000.0 ** (-torch.arange(half, device=x.device, dtype=x.dtype) / half)
    angles = positions[:, None].to(x.dtype) * rates
    a, b = x[..., :half], x[..., half:]
    return torch.cat([a * angles.cos() - b * angles.sin(), a * angles.sin() + b * angles.cos()], -1)


class Attention(nn.Module):
    """Causal self-attention."""

    def __init__(self, shape: Shape, layer: int) -> None:
        super().__init__()
        self.shape, self.layer, self.size = shape, layer, shape.width // shape.heads
        self.qkv = nn.Linear(shape.width, (shape.heads + 2 * shape.groups) * self.size, bias=not shape.rotary)
        self.out = nn.Linear(shape.width, shape.width, bias=not shape.rotary)

    def forward(
        self, x: torch.Tensor, positions: torch.Tensor, cache: Cache | None, mask: torch.Tensor | None
    ) -> torch.Tensor:
        shape, (batch, time, width) = self.shape, x.shape
        parts = [shape.heads * self.size, shape.groups * self.size, shape.groups * self.size]
        q, k, v = (p.view(batch, time, -1, self.size).transpose(1, 2) for p in self.qkv(x).split(parts, -1))
        if shape.rotary:
            q, k = rotate(q, positions), rotate(k, positions)
        if cache is not None:
            k, v = cache.extend(self.layer, k, v)
        y = scaled_dot_product_attention(
            q, k, v, mask, shape.dropout if self.training else 0.0,
            is_causal=mask is None and time > 1, enable_gqa=shape.groups != shape.heads,
        )  # fmt: skip
        return self.out(y.transpose(1, 2).reshape(batch, time, width))


class Gated(nn.Module):
    """SwiGLU (Shazeer, 2020)."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.gate, self.up = nn.Linear(width, 2 * width, bias=False), nn.Linear(width, 2 * width, bias=False)
        self.down = nn.Linear(2 * width, width, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.down(nn.functional.silu(self.gate(x)) * self.up(x))


class Layer(nn.Module):
    """Attention and a feed-forward part, each normalized before and added to its input."""

    def __init__(self, shape: Shape, layer: int) -> None:
        super().__init__()
        width, norm = shape.width, nn.RMSNorm if shape.rotary else nn.LayerNorm
        self.attention, self.before, self.between = Attention(shape, layer), norm(width), norm(width)
        plain = (
            nn.Linear(width, 4 * width),
            nn.GELU(approximate="tanh" if layer else "none"),
            nn.Linear(4 * width, width),
        )
        self.feed = Gated(width) if shape.rotary else nn.Sequential(*plain, nn.Dropout(shape.dropout))

    def forward(
        self, x: torch.Tensor, positions: torch.Tensor, cache: Cache | None = None, mask: torch.Tensor | None = None
    ) -> torch.Tensor:
        x = x + self.attention(self.before(x), positions, cache, mask)
        return x + self.feed(self.between(x))


class GPT(nn.Module):
    """Ids (batch, time) -> logits (batch, time, vocabulary); the head shares the embedding's weight."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.shape = shape
        self.tokens = nn.Embedding(shape.vocabulary, shape.width)
        self.places = None if shape.rotary else nn.Embedding(shape.length, shape.width)
        self.layers = nn.ModuleList(Layer(shape, i) for i in range(shape.layers))
        self.norm = (nn.RMSNorm if shape.rotary else nn.LayerNorm)(shape.width)
        self.head = nn.Linear(shape.width, shape.vocabulary, bias=False)
        self.head.weight = self.tokens.weight
        nn.init.normal_(self.tokens.weight, std=0.2)

    def forward(
        self, ids: torch.Tensor, start: int = 0, cache: Cache | None = None, mask: torch.Tensor | None = None
    ) -> torch.Tensor:
        positions = torch.arange(start, start + ids.shape[1], device=ids.device)
        x = self.tokens(ids)
        if self.places is not None:
            x = x + self.places(positions)
        for layer in self.layers:
            if self.shape.checkpoint and self.training:
                x = checkpoint(layer, x, positions, use_reentrant=self.shape.checkpoint == "reentrant")
            else:
                x = layer(x, positions, cache, mask)
        return self.head(self.norm(x))
