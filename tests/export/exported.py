"""Models of the kinds that are deployed."""

from __future__ import annotations

import torch
from torch import nn

__all__ = ["MODELS", "Block", "cnn"]


def cnn() -> nn.Module:
    """Convolutions with normalization and pooling, over images (batch, 3, 8, 8)."""
    return nn.Sequential(
        nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(8, 8, 3, stride=2, padding=1), nn.GELU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Dropout(0.5),
        nn.Linear(8, 10),
    )  # fmt: skip


class Block(nn.Module):
    """A transformer block over tokens (batch, time), causal, with a table of positions and tied weights."""

    def __init__(self) -> None:
        super().__init__()
        self.tokens = nn.Embedding(11, 16)
        self.positions = nn.Parameter(torch.randn(6, 16))
        self.layer = nn.TransformerEncoderLayer(16, 4, 32, dropout=0.1, batch_first=True, norm_first=True)
        self.head = nn.Linear(16, 11, bias=False)
        self.head.weight = self.tokens.weight
        self.register_buffer("mask", nn.Transformer.generate_square_subsequent_mask(6))

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        hidden = self.tokens(ids) + self.positions
        return self.head(self.layer(hidden, src_mask=self.mask, is_causal=True))


def _images() -> torch.Tensor:
    return torch.randn(2, 3, 8, 8)


def _tokens() -> torch.Tensor:
    return torch.randint(0, 11, (2, 6))


MODELS = {"cnn": (cnn, _images), "block": (Block, _tokens)}
