"""A decoder-only transformer."""

from __future__ import annotations

import torch
from torch import nn


class Block(nn.Module):
    """Causal self-attention and a feed-forward layer, each with a residual; (batch, time, width) -> the same."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.before_attention = nn.LayerNorm(width)
        self.projections = nn.Linear(width, 3 * width)
        self.merge = nn.Linear(width, width)
        self.before_feed_forward = nn.LayerNorm(width)
        self.feed_forward = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x + self.attention(self.before_attention(x))
        return x + self.feed_forward(self.before_feed_forward(x))

    def attention(self, x: torch.Tensor) -> torch.Tensor:
        batch, time, width = x.shape
        parts = self.projections(x).view(batch, time, 3, self.heads, width // self.heads)
        query, key, value = parts.permute(2, 0, 3, 1, 4).unbind(0)
        mixed = nn.functional.scaled_dot_product_attention(query, key, value, is_causal=True)
        return self.merge(mixed.transpose(1, 2).reshape(batch, time, width))


class CharacterModel(nn.Module):
    """Character ids (batch, time) -> logits of the next character (batch, time, vocabulary)."""

    def __init__(self, vocabulary: int, context: int, width: int = 96, heads: int = 4, depth: int = 2) -> None:
        super().__init__()
        self.context = context
        self.characters = nn.Embedding(vocabulary, width)
        self.positions = nn.Parameter(torch.randn(context, width) * 0.02)
        self.blocks = nn.Sequential(*(Block(width, heads) for _ in range(depth)))
        self.head = nn.Sequential(nn.LayerNorm(width), nn.Linear(width, vocabulary))

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        return self.head(self.blocks(self.characters(ids) + self.positions[: ids.shape[1]]))
