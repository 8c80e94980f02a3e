"""A vision transformer (Dosovitskiy et al., 2020) around torch's own encoder layers."""

from __future__ import annotations

import torch
from torch import nn

__all__ = ["ViT"]


class ViT(nn.Module):
    """Images (batch, 3, 8, 8) -> logits (batch, classes); patches of 4 pixels and a class token."""

    def __init__(self, classes: int = 5, width: int = 12, dropout: float = 0.1) -> None:
        super().__init__()
        self.patches = nn.Conv2d(3, width, 4, stride=4)
        self.token = nn.Parameter(torch.zeros(1, 1, width))
        self.places = nn.Parameter(torch.randn(1, 5, width) * 0.02)
        layer = nn.TransformerEncoderLayer(width, 3, 24, dropout, "gelu", batch_first=True, norm_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2, nn.LayerNorm(width), enable_nested_tensor=False)
        self.head = nn.Linear(width, classes)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        patches = self.patches(x).flatten(2).transpose(1, 2)
        x = torch.cat([self.token.expand(x.shape[0], -1, -1), patches], 1) + self.places
        return self.head(self.encoder(x)[:, 0])
