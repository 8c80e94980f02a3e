"""Distances between rows, and their gradients."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch

__all__ = ["DISTANCES"]

_ROWS = 64
"""So many rows at most: the pairs of pdist are put together row by row."""


def cdist(x: torch.Tensor, y: torch.Tensor, p: float, compute_mode: int | None = None) -> torch.Tensor:  # noqa: ARG001
    """``aten::_cdist_forward``: (*, P, M), (*, R, M) -> (*, P, R)."""
    difference = x.unsqueeze(-2) - y.unsqueeze(-3)
    if not difference.shape[-1]:
        return difference.sum(-1)
    return torch.linalg.vector_norm(difference, p, dim=-1)


def cdist_backward(
    grad: torch.Tensor, x: torch.Tensor, y: torch.Tensor, p: float, distance: torch.Tensor
) -> torch.Tensor:
    """``aten::_cdist_backward``: the gradient for the first operand; 0 where a distance is 0."""
    if not grad.numel():
        return torch.zeros_like(x)
    difference = x.unsqueeze(-2) - y.unsqueeze(-3)
    total = (_slope(difference, p, distance.unsqueeze(-1)) * grad.unsqueeze(-1)).sum(-2)
    return total.expand(*torch.broadcast_shapes(x.shape[:-2], y.shape[:-2]), *x.shape[-2:]).contiguous()


def _slope(difference: torch.Tensor, p: float, distance: torch.Tensor) -> torch.Tensor:
    sign, size = difference.sign(), difference.abs()
    if p == 0:
        return torch.zeros_like(difference)
    if p == 1:
        return sign
    if math.isinf(p):
        return sign * (size == distance)
    if p == 2:
        return torch.where(distance == 0, 0, difference / distance)
    slope = sign * size.pow(p - 1) / distance.pow(p - 1)
    return torch.where((distance == 0) | ((size == 0) & (p < 1)), 0, slope)


def pdist(x: torch.Tensor, p: float = 2) -> torch.Tensor:
    """``aten::_pdist_forward``: (N, M) -> the N (N - 1) / 2 distances of pairs."""
    n = _rows(x)
    if n < 2:
        return x.new_zeros(0)
    full = cdist(x, x, p)
    return torch.cat([full[i, i + 1 :] for i in range(n - 1)])


def pdist_backward(grad: torch.Tensor, x: torch.Tensor, p: float, distance: torch.Tensor) -> torch.Tensor:
    """``aten::_pdist_backward``."""
    if _rows(x) < 2:
        return torch.zeros_like(x)
    return cdist_backward(_square(grad, x.shape[0]), x, x, p, _square(distance, x.shape[0]))


def _rows(x: torch.Tensor) -> int:
    if x.shape[0] > _ROWS:
        raise NotImplementedError
    return x.shape[0]


def _square(pairs: torch.Tensor, n: int) -> torch.Tensor:
    """A symmetric (n, n) matrix from what lies above its diagonal, row by row."""
    rows, start = [], 0
    for i in range(n):
        width = n - 1 - i
        rows.append(torch.nn.functional.pad(pairs[start : start + width], (i + 1, 0)))
        start += width
    upper = torch.stack(rows)
    return upper + upper.mT


DISTANCES: dict[str, Callable[..., Any]] = {
    "_cdist_forward": cdist,
    "_cdist_backward": cdist_backward,
    "_pdist_forward": pdist,
    "_pdist_backward": pdist_backward,
}
