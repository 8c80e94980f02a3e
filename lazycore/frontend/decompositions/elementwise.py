"""Elementwise ops that torch does not decompose."""

from __future__ import annotations

from typing import Any

import torch

__all__ = ["ELEMENTWISE"]

aten = torch.ops.aten


def shrink_backward(grad: torch.Tensor, x: torch.Tensor, bound: float) -> torch.Tensor:
    """``aten::hardshrink_backward``, ``aten::softshrink_backward``: nothing passes where the result was 0."""
    return torch.where((x >= -bound) & (x <= bound), 0.0, grad)


def angle(x: torch.Tensor) -> torch.Tensor:
    """``aten::angle``: of a real number 0 or pi; NaN stays."""
    if x.is_complex():
        return torch.atan2(x.imag, x.real)
    if not x.is_floating_point():
        x = x.to(torch.get_default_dtype())
    return torch.where(x.isnan(), x, torch.where(x < 0, torch.pi, 0.0).to(x.dtype))


def masked_scatter(x: torch.Tensor, mask: torch.Tensor, source: torch.Tensor) -> torch.Tensor:
    """``aten::masked_scatter`` where the source is large enough for any mask; else it may be an error, which only
    running it tells."""
    x, mask = torch.broadcast_tensors(x, mask)
    if source.numel() < x.numel():
        raise NotImplementedError
    if not x.numel():
        return x.clone()
    places = mask.reshape(-1).to(torch.int64).cumsum(0) - 1
    taken = source.reshape(-1)[places.clamp(min=0)]
    return torch.where(mask, taken.reshape(x.shape), x)


def masked_scatter_backward(grad: torch.Tensor, mask: torch.Tensor, size: Any) -> torch.Tensor:
    """``aten::masked_scatter_backward``: the gradients under the mask, in order, then zeros."""
    count = 1
    for extent in size:
        count *= extent
    mask = mask.expand(grad.shape).reshape(-1)
    ranks = mask.to(torch.int64).cumsum(0) - 1
    # What the mask leaves out goes to a place of its own behind the result.
    places = torch.where(mask & (ranks < count), ranks, count)
    result = torch.zeros(count + 1, dtype=grad.dtype, device=grad.device).scatter(0, places, grad.reshape(-1))
    return result[:count].reshape(size)


def dist(x: torch.Tensor, other: torch.Tensor, p: float = 2) -> torch.Tensor:
    """``aten::dist``."""
    return torch.linalg.vector_norm(x - other, p)


ELEMENTWISE = {
    "hardshrink_backward": shrink_backward,
    "softshrink_backward": shrink_backward,
    "angle": angle,
    "masked_scatter": masked_scatter,
    "masked_scatter_backward": masked_scatter_backward,
    "dist": dist,
    "_is_all_true": lambda x: aten.all.default(x),
    "_is_any_true": lambda x: aten.any.default(x),
}
