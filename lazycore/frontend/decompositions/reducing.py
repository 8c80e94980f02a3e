"""Scatters that combine, reductions of nothing, and losses whose gradients torch does not decompose."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch

from lazycore.frontend.schema import overload

__all__ = ["REDUCING"]


def index_reduce(
    x: torch.Tensor, dim: int, index: torch.Tensor, source: torch.Tensor, reduce: str, *, include_self: bool = True
) -> torch.Tensor:
    """``aten::index_reduce``: slices combined where an index says."""
    if not x.dim():
        return index_reduce(x.reshape(1), 0, index.reshape(-1), source.reshape(1), reduce, include_self=include_self)[0]
    dim %= x.dim()
    shape = [1] * x.dim()
    shape[dim] = index.numel()
    places = index.to(torch.int64).reshape(shape).expand(source.shape)
    return x.scatter_reduce(dim, places, source, reduce, include_self=include_self)


_NAMES = {"add": "sum", "multiply": "prod"}


def scatter_reduce(x: torch.Tensor, dim: int, index: torch.Tensor, src: Any, *, reduce: str) -> torch.Tensor:
    """``aten::scatter.reduce``, ``aten::scatter.value_reduce``."""
    if not isinstance(src, torch.Tensor):
        src = torch.full(index.shape, src, dtype=x.dtype, device=x.device)
    return x.scatter_reduce(dim, index, src, _NAMES[reduce], include_self=True)


def multi_margin_loss_backward(
    grad: torch.Tensor, x: torch.Tensor, target: torch.Tensor, p: int, margin: float,
    weight: torch.Tensor | None = None, reduction: int = 1,
) -> torch.Tensor:  # fmt: skip
    """``aten::multi_margin_loss_backward``: x (N, C) or (C,), target (N,) or ()."""
    rows = x.reshape(-1, x.shape[-1]) if x.dim() else x.reshape(1, 1)
    target = target.reshape(-1, 1)
    gap = margin - rows.gather(1, target) + rows
    slope = torch.where(gap > 0, (2 * gap if p == 2 else torch.ones_like(gap)) / rows.shape[1], 0)
    if weight is not None:
        slope = slope * weight[target]
    own = torch.ops.aten.arange.start_step(0, rows.shape[1], 1, dtype=torch.int64, device=x.device) == target
    slope = torch.where(own, 0, slope)
    slope = torch.where(own, -slope.sum(1, keepdim=True), slope)
    if reduction == 1:
        slope = slope / rows.shape[0]
    scale = grad.reshape(-1, 1) if reduction == 0 else grad
    return (slope * scale).reshape(x.shape)


def multilabel_margin_loss(x: torch.Tensor, target: torch.Tensor, reduction: int) -> tuple[torch.Tensor, torch.Tensor]:
    """``aten::multilabel_margin_loss_forward``: x and target (N, C) or (C,), a row's targets up to the first -1."""
    rows = x.reshape(-1, x.shape[-1] if x.dim() else 1)
    targets = target.reshape(rows.shape)
    listed = (targets == -1).to(torch.int64).cumsum(1) == 0
    each = torch.ops.aten.arange.start_step(0, rows.shape[1], 1, dtype=torch.int64, device=x.device)
    wanted = ((targets.unsqueeze(2) == each) & listed.unsqueeze(2)).any(1)
    own = rows.gather(1, torch.where(listed, targets, 0).to(torch.int64))
    gap = (1 - own.unsqueeze(2) + rows.unsqueeze(1)).clamp(min=0)
    # Of every target against every class that is none.
    loss = torch.where(listed.unsqueeze(2) & ~wanted.unsqueeze(1), gap, 0).sum((1, 2)) / rows.shape[1]
    if reduction:
        loss = loss.mean() if reduction == 1 else loss.sum()
    return loss.reshape(()) if x.dim() <= 1 else loss, wanted.to(x.dtype).reshape(target.shape)


def multilabel_margin_loss_backward(
    grad: torch.Tensor, x: torch.Tensor, target: torch.Tensor, reduction: int, is_target: torch.Tensor
) -> torch.Tensor:
    """``aten::multilabel_margin_loss_backward``: every violated pair of a target and another class pulls at both."""
    rows = x.reshape(-1, x.shape[-1] if x.dim() else 1)
    targets, wanted = target.reshape(rows.shape), is_target.reshape(rows.shape) != 0
    listed = (targets == -1).to(torch.int64).cumsum(1) == 0
    places = torch.where(listed, targets, 0).to(torch.int64)
    gap = 1 - rows.gather(1, places).unsqueeze(2) + rows.unsqueeze(1)
    violated = (gap > 0) & listed.unsqueeze(2) & ~wanted.unsqueeze(1)
    pull = violated.to(x.dtype) / rows.shape[1]
    slope = pull.sum(1).scatter_add(1, places, -pull.sum(2))
    scale = grad.reshape(-1, 1) if reduction == 0 else grad / rows.shape[0] if reduction == 1 else grad
    return (slope * scale).reshape(x.shape)


def _torchs(op: Any) -> Callable[..., Any]:
    from torch._decomp import core_aten_decompositions, global_decomposition_table

    return core_aten_decompositions().get(op) or global_decomposition_table["post_autograd"][op]


def _of_nothing(op: Any, value: Any) -> Callable[..., torch.Tensor]:
    """What a reduction gives where there is nothing to reduce, of which a backend may have no loop."""

    def decomposed(x: torch.Tensor, *args: Any, **kwargs: Any) -> torch.Tensor:
        if x.numel():
            return _torchs(op)(x, *args, **kwargs)  # type: ignore[no-any-return]
        like = op(x, *args, **kwargs)
        return torch.full(like.shape, value, dtype=like.dtype, device=x.device)

    return decomposed


_NOTHING: dict[str, Any] = {
    "sum": 0, "sum.dim_IntList": 0, "prod": 1, "prod.dim_int": 1, "all": True, "all.dim": True, "all.dims": True,
    "any": False, "any.dim": False, "any.dims": False, "mean": math.nan, "mean.dim": math.nan,
}  # fmt: skip


REDUCING: dict[str, Callable[..., Any]] = {
    **{name: _of_nothing(overload(f"aten::{name}"), value) for name, value in _NOTHING.items()},
    "index_reduce": index_reduce,
    "scatter.reduce": scatter_reduce,
    "scatter.value_reduce": scatter_reduce,
    "multi_margin_loss_backward": multi_margin_loss_backward,
    "multilabel_margin_loss_backward": multilabel_margin_loss_backward,
    # torch's own counts what comes behind the first -1.
    "multilabel_margin_loss_forward": multilabel_margin_loss,
}
