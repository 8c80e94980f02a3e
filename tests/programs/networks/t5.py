"""An encoder-decoder after T5 (Raffel et al., 2020): buckets of relative positions are added to unscaled scores."""

from __future__ import annotations

import math

import torch
from torch import nn
from torch.nn.functional import scaled_dot_product_attention

__all__ = ["T5"]

HEADS, SIZE, WIDTH = 2, 6, 12


def buckets(queries: int, keys: int, both: bool, device: torch.device, count: int = 8, far: int = 16) -> torch.Tensor:
    """Bucket of each distance key - query, (queries, keys) int64: exact when near, logarithmic when far."""
    distance = torch.arange(keys, device=device)[None] - torch.arange(queries, device=device)[:, None]
    bucket = torch.zeros_like(distance)
    if both:
        count //= 2
        bucket += (distance > 0).long() * count
        distance = distance.abs()
    else:
        distance = -torch.minimum(distance, torch.zeros_like(distance))
    exact = count // 2
    scaled = torch.log(distance.float() / exact) / math.log(far / exact) * (count - exact)
    large = (exact + scaled.clamp(min=0)).long().clamp(max=count - 1)
    return bucket + torch.where(distance < exact, distance, large)


class Attention(nn.Module):
    """Queries from (batch, time, width), keys and values from ``memory``."""

    def __init__(self) -> None:
        super().__init__()
        self.query, self.key, self.value = (nn.Linear(WIDTH, HEADS * SIZE, bias=False) for _ in range(3))
        self.out = nn.Linear(HEADS * SIZE, WIDTH, bias=False)

    def forward(self, x: torch.Tensor, memory: torch.Tensor, bias: torch.Tensor | None) -> torch.Tensor:
        q, k, v = (
            project(source).unflatten(-1, (HEADS, SIZE)).transpose(1, 2)
            for project, source in ((self.query, x), (self.key, memory), (self.value, memory))
        )
        return self.out(scaled_dot_product_attention(q, k, v, bias, scale=1.0).transpose(1, 2).flatten(2))


class Layer(nn.Module):
    """Self-attention, attention to the encoder's result in a decoder, and a feed-forward part."""

    def __init__(self, decoder: bool) -> None:
        super().__init__()
        self.self_attention, self.cross = Attention(), Attention() if decoder else None
        self.norms = nn.ModuleList(nn.RMSNorm(WIDTH) for _ in range(3))
        self.feed = nn.Sequential(nn.Linear(WIDTH, 24, bias=False), nn.ReLU(), nn.Linear(24, WIDTH, bias=False))

    def forward(self, x: torch.Tensor, bias: torch.Tensor, memory: torch.Tensor | None) -> torch.Tensor:
        normed = self.norms[0](x)
        x = x + self.self_attention(normed, normed, bias)
        if self.cross is not None and memory is not None:
            x = x + self.cross(self.norms[1](x), memory, None)
        return x + self.feed(self.norms[2](x))


class Stack(nn.Module):
    """Layers that share one table of position biases."""

    def __init__(self, decoder: bool) -> None:
        super().__init__()
        self.decoder = decoder
        self.layers = nn.ModuleList(Layer(decoder) for _ in range(2))
        self.bias, self.norm = nn.Embedding(8, HEADS), nn.RMSNorm(WIDTH)

    def forward(self, x: torch.Tensor, padding: torch.Tensor | None, memory: torch.Tensor | None) -> torch.Tensor:
        time = x.shape[1]
        bias = self.bias(buckets(time, time, not self.decoder, x.device)).permute(2, 0, 1)[None]
        if self.decoder:
            bias = bias.masked_fill(torch.ones(time, time, dtype=torch.bool, device=x.device).triu(1), float("-inf"))
        if padding is not None:
            bias = bias.masked_fill(padding[:, None, None], torch.finfo(x.dtype).min)
        for layer in self.layers:
            x = layer(x, bias, memory)
        return self.norm(x)


class T5(nn.Module):
    """(batch, source) and (batch, target) ids -> logits (batch, target, vocabulary). Id 0 pads the source."""

    def __init__(self, vocabulary: int = 19) -> None:
        super().__init__()
        self.tokens = nn.Embedding(vocabulary, WIDTH)
        self.encoder, self.decoder = Stack(False), Stack(True)
        self.head = nn.Linear(WIDTH, vocabulary, bias=False)

    def forward(self, source: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        memory = self.encoder(self.tokens(source), source == 0, None)
        return self.head(self.decoder(self.tokens(target), None, memory))
