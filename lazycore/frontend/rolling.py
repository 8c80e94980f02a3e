"""Rolling by distances that vary: models compute them from data, and each would be a program of its own."""

from __future__ import annotations

from typing import Any

import torch

from lazycore.frontend.copies import fresh_from_host
from lazycore.frontend.kernels import recorded

__all__ = ["roll"]

aten = torch.ops.aten

_FEW = 2
"""Distances that a shape may be rolled by before they count as varying; windows of attention go there and back."""
_MOST_SHAPES = 1024

_distances: dict[Any, set[Any]] = {}


def roll(x: torch.Tensor, shifts: Any, dims: Any = ()) -> torch.Tensor:
    """``aten::roll``. Distances become run-time inputs once they were many for tensors of a shape."""
    shifts, dims = _listed(shifts), _listed(dims)
    if x.numel() <= 1:
        shifts = (0,) * len(shifts)
    if len(shifts) != max(len(dims), 1) or not _vary(x, shifts, dims):
        return recorded(aten.roll.default)(x, shifts, dims)  # type: ignore[no-any-return]
    if not dims:
        return _rolled(x.reshape(-1), shifts[0], 0).reshape(x.shape)
    for shift, dim in zip(shifts, dims, strict=True):
        x = _rolled(x, shift, dim)
    return x


def _listed(x: Any) -> tuple[int, ...]:
    return (x,) if isinstance(x, int) else tuple(x)


def _vary(x: torch.Tensor, shifts: tuple[int, ...], dims: tuple[int, ...]) -> bool:
    if len(_distances) >= _MOST_SHAPES:
        _distances.clear()
    seen = _distances.setdefault((x.shape, dims), set())
    if len(seen) <= _FEW:
        seen.add(shifts)
    return len(seen) > _FEW


def _rolled(x: torch.Tensor, shift: int, dim: int) -> torch.Tensor:
    size = x.shape[dim]
    start = fresh_from_host(torch.tensor(-shift % size, device="cpu"))
    places = aten.arange.default(size, device=x.device, dtype=torch.int64)
    return aten.index_select.default(x, dim, aten.remainder.Scalar(aten.add.Tensor(places, start), size))
