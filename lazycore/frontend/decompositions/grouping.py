"""Products of groups, and counts of what falls into bins."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

__all__ = ["GROUPING"]

_PRODUCTS = 1 << 26
"""The product of everything with every group's matrix may take so many elements; beyond, the op runs whole."""


def grouped_mm(
    a: torch.Tensor, b: torch.Tensor, offs: torch.Tensor | None = None, bias: torch.Tensor | None = None,
    out_dtype: torch.dtype | None = None,  # noqa: ARG001  (PyTorch takes none but the operands' own)
) -> torch.Tensor:  # fmt: skip
    """``aten::_grouped_mm``: where a group ends is known at run time, so that every group meets everything."""
    if bias is not None:
        raise NotImplementedError
    if offs is None:
        return torch.bmm(a, b)
    if a.dim() == 2 and b.dim() == 2:
        return _contracted(a, b, offs)
    if a.dim() == 2:
        return _rows(a, b, offs)
    return _rows(b.mT, a.mT, offs).mT


def _rows(a: torch.Tensor, b: torch.Tensor, ends: torch.Tensor) -> torch.Tensor:
    """(M, K) x (G, K, N) -> (M, N)."""
    groups, _, columns = b.shape
    _limit(groups * a.shape[0] * columns)
    products = torch.matmul(a, b)
    group = _group_of(a.shape[0], ends)
    # Chosen, not multiplied by 0 and added up: a group's NaN stays in its group.
    chosen = products.gather(0, group.clamp(max=groups - 1)[None, :, None].expand(1, -1, columns))[0]
    return torch.where(group[:, None] < groups, chosen, 0)


def _contracted(a: torch.Tensor, b: torch.Tensor, ends: torch.Tensor) -> torch.Tensor:
    """(M, K) x (K, N) -> (G, M, N)."""
    groups = ends.shape[0]
    _limit(groups * a.shape[1] * (a.shape[0] + b.shape[1]))
    inside = _group_of(a.shape[1], ends) == _range(groups, ends)[:, None]
    return torch.bmm(torch.where(inside[:, None, :], a, 0), torch.where(inside[:, :, None], b, 0))


def _group_of(size: int, ends: torch.Tensor) -> torch.Tensor:
    return (_range(size, ends)[:, None] >= ends).sum(1)


def _range(size: int, like: torch.Tensor) -> torch.Tensor:
    return torch.ops.aten.arange.start_step(0, size, 1, dtype=like.dtype, device=like.device)


def _limit(elements: int) -> None:
    if elements > _PRODUCTS:
        raise NotImplementedError


def histc(x: torch.Tensor, bins: int = 100, min: Any = 0, max: Any = 0) -> torch.Tensor:
    """``aten::histc`` where the range is given; one that the data decides may be an error, which only running it
    tells."""
    if not min < max:
        raise NotImplementedError
    x = x.reshape(-1)
    place = ((x - min) * bins / (max - min)).clamp(max=bins - 1)
    inside = (x >= min) & (x <= max)
    # What is outside is counted in a bin of its own behind the others.
    place = torch.where(inside, place, bins).to(torch.int64)
    counts = torch.zeros(bins + 1, dtype=torch.int64, device=x.device)
    return counts.scatter_add(0, place, torch.ones_like(place))[:bins].to(x.dtype)


GROUPING: dict[str, Callable[..., Any]] = {"_grouped_mm": grouped_mm, "histc": histc}
