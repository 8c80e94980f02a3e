"""What sorting can answer: order statistics, the mode, positions in sorted sequences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

__all__ = ["ORDERING"]

aten = torch.ops.aten
_COMPARISONS = 1 << 22
"""A comparison of everything with everything may take so many elements; beyond, the op runs whole."""

Pair = tuple[torch.Tensor, torch.Tensor]


def _sorted(x: torch.Tensor, dim: int) -> Pair:
    if not x.numel():
        raise NotImplementedError
    return aten.sort.stable(x, stable=True, dim=dim, descending=False)  # type: ignore[no-any-return]


def _picked(pair: Pair, place: torch.Tensor | int, dim: int, keepdim: bool) -> Pair:
    """Both tensors at one place along the dimension; a tensor of places has size 1 there."""
    if pair[0].dim() == 0:
        return pair
    if isinstance(place, int):
        values, indices = (aten.slice.Tensor(t, dim, place, place + 1) for t in pair)
    else:
        values, indices = (aten.gather.default(t, dim, place) for t in pair)
    return (values, indices) if keepdim else (values.squeeze(dim), indices.squeeze(dim))


def kthvalue(x: torch.Tensor, k: int, dim: int = -1, keepdim: bool = False) -> Pair:
    """``aten::kthvalue``."""
    return _picked(_sorted(x, dim), k - 1, dim, keepdim)


def median_dim(x: torch.Tensor, dim: int, keepdim: bool = False) -> Pair:
    """``aten::median.dim``: the lower one of two; the first NaN if there is any."""
    pair = _sorted(x, dim)
    if not x.is_floating_point() or not x.dim():
        return _picked(pair, (pair[0].shape[dim] - 1) // 2 if x.dim() else 0, dim, keepdim)
    size = x.shape[dim]
    nans = x.isnan().sum(dim, keepdim=True)
    return _picked(pair, torch.where(nans > 0, size - nans, (size - 1) // 2), dim, keepdim)


def nanmedian_dim(x: torch.Tensor, dim: int, keepdim: bool = False) -> Pair:
    """``aten::nanmedian.dim``: the lower median of what is a number."""
    if not x.is_floating_point() or not x.dim():
        return median_dim(x, dim, keepdim)
    numbers = x.isnan().logical_not().sum(dim, keepdim=True)
    place = torch.div((numbers - 1).clamp(min=0), 2, rounding_mode="floor")
    return _picked(_sorted(x, dim), place, dim, keepdim)


def mode(x: torch.Tensor, dim: int = -1, keepdim: bool = False) -> Pair:
    """``aten::mode``: the smallest of the most frequent values, and the last place where it stands."""
    if not x.dim():
        return x.clone(), torch.zeros((), dtype=torch.int64, device=x.device)
    values, indices = (t.movedim(dim, -1) for t in _sorted(x, dim))
    if x.numel() * x.shape[dim] > _COMPARISONS:
        raise NotImplementedError
    counts = (values.unsqueeze(-1) == values.unsqueeze(-2)).sum(-1)
    most, first = counts.max(-1, keepdim=True)
    last = first + most - 1
    found = values.gather(-1, first), indices.gather(-1, last.clamp(min=0))
    return tuple(t.movedim(-1, dim) if keepdim else t.squeeze(-1) for t in found)  # type: ignore[return-value]


def searchsorted(
    edges: torch.Tensor, x: Any, *, out_int32: bool = False, right: bool = False, side: str | None = None,
    sorter: torch.Tensor | None = None,
) -> torch.Tensor:  # fmt: skip
    """``aten::searchsorted``: before how many elements of a sorted sequence a value belongs; counted by comparing."""
    if not isinstance(x, torch.Tensor):
        x = torch.full((), x, dtype=edges.dtype if edges.is_floating_point() else torch.float64, device=edges.device)
    if sorter is not None:
        edges = edges.gather(-1, sorter)
    if x.numel() * max(edges.shape[-1], 1) > _COMPARISONS:
        raise NotImplementedError
    dtype = torch.int32 if out_int32 else torch.int64
    if not x.dim():
        return _count(edges, x, right or side == "right").to(dtype)
    edges = edges.unsqueeze(-2) if edges.dim() > 1 else edges
    return _count(edges, x.unsqueeze(-1), right or side == "right").to(dtype)


def _count(edges: torch.Tensor, x: torch.Tensor, right: bool) -> torch.Tensor:
    # Written as "not beyond", so that a NaN belongs behind everything.
    beyond = edges > x if right else edges >= x
    return beyond.logical_not().sum(-1)


def bucketize(x: Any, edges: torch.Tensor, *, out_int32: bool = False, right: bool = False) -> torch.Tensor:
    """``aten::bucketize``."""
    return searchsorted(edges, x, out_int32=out_int32, right=right)


ORDERING: dict[str, Callable[..., Any]] = {
    "kthvalue": kthvalue,
    "median": lambda x: median_dim(x.reshape(-1), 0)[0],
    "median.dim": median_dim,
    "nanmedian": lambda x: nanmedian_dim(x.reshape(-1), 0)[0],
    "nanmedian.dim": nanmedian_dim,
    "mode": mode,
    "searchsorted.Tensor": searchsorted,
    "searchsorted.Scalar": searchsorted,
    "bucketize.Tensor": bucketize,
    "bucketize.Scalar": bucketize,
}
