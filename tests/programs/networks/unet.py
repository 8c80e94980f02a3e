"""U-Net (Ronneberger et al., 2015): down, up, and skips between equal sizes."""

from __future__ import annotations

import torch
from torch import nn

__all__ = ["UNet"]


def _double(inner: int, outer: int) -> nn.Sequential:
    return nn.Sequential(
        nn.Conv2d(inner, outer, 3, padding=1), nn.GroupNorm(2, outer), nn.SiLU(),
        nn.Conv2d(outer, outer, 3, padding=1), nn.LeakyReLU(0.1),
    )  # fmt: skip


class _Up(nn.Module):
    """Twice the size, by ``transposed`` convolution or by interpolation (``nearest``, ``bilinear``, ``bicubic``)."""

    def __init__(self, inner: int, outer: int, mode: str) -> None:
        super().__init__()
        self.mode = mode
        transposed = mode == "transposed"
        self.conv = nn.ConvTranspose2d(inner, outer, 2, stride=2) if transposed else nn.Conv2d(inner, outer, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if self.mode == "transposed":
            return self.conv(x)
        corners = None if self.mode == "nearest" else False
        return self.conv(nn.functional.interpolate(x, scale_factor=2, mode=self.mode, align_corners=corners))


class UNet(nn.Module):
    """Images (batch, channels, height, width) -> logits of ``classes`` at each pixel; sizes divisible by 4."""

    def __init__(self, mode: str, channels: int = 2, width: int = 4, classes: int = 3) -> None:
        super().__init__()
        self.enter, self.down, self.bottom = _double(channels, width), _double(width, 2 * width), _double(2 * width, 16)
        self.first_up, self.second_up = _Up(16, 2 * width, mode), _Up(2 * width, width, mode)
        self.first_join, self.second_join = _double(4 * width, 2 * width), _double(2 * width, width)
        self.head = nn.Conv2d(width, classes, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        large = self.enter(x)
        middle = self.down(nn.functional.max_pool2d(large, 2))
        small = self.bottom(nn.functional.avg_pool2d(middle, 2))
        middle = self.first_join(torch.cat([middle, self.first_up(small)], 1))
        return self.head(self.second_join(torch.cat([large, self.second_up(middle)], 1)))
