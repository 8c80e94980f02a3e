"""Sums and means of bags of table rows, their gradients, and tables whose rows are kept short, by gathers and adds at
indices.

Maxima are not decomposed, nor gradients scaled by frequency: which of equal or unordered elements wins, and which
index's frequency counts, are the CPU kernels' own rules.
"""

# Signatures are ATen's, also where an argument does not matter here.
# ruff: noqa: ARG001

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from lazycore.frontend.embedding_bag import bag_results

__all__ = ["EMBEDDING"]

aten = torch.ops.aten
_MEAN, _MAXIMUM = 1, 2


def embedding_bag(
    weight: torch.Tensor, indices: torch.Tensor, offsets: torch.Tensor, scale_grad_by_freq: bool = False, mode: int = 0,
    sparse: bool = False, per_sample_weights: torch.Tensor | None = None, include_last_offset: bool = False,
    padding_idx: int = -1,
) -> tuple[torch.Tensor, ...]:  # fmt: skip
    """``aten::_embedding_bag``: weight (rows, columns), indices (n,), offsets (bags,) or (bags + 1,)."""
    if mode == _MAXIMUM:
        raise NotImplementedError
    results = bag_results(
        aten._embedding_bag.default, weight, indices, offsets, scale_grad_by_freq, mode, sparse, per_sample_weights,
        include_last_offset, padding_idx,
    )  # fmt: skip
    bags, bag, counted = results[0].shape[0], _bags(indices, offsets), indices != padding_idx
    sizes = _sums(counted.to(offsets.dtype), bag, bags)
    rows = _wide(weight.index_select(0, indices))
    if per_sample_weights is not None:
        rows = rows * _wide(per_sample_weights)[:, None]
    sums = _sums(torch.where(counted[:, None], rows, 0), bag, bags)
    if mode == _MEAN:
        sums = sums / sizes.clamp(min=1)[:, None]
    places = bag if results[1].numel() else bag[:0]
    maxima = torch.zeros(results[3].shape, dtype=offsets.dtype, device=weight.device)
    return sums.to(weight.dtype), places, sizes, maxima


def _bags(indices: torch.Tensor, offsets: torch.Tensor) -> torch.Tensor:
    """Per index the bag it is in: the last that begins at it or before. Bags that end before the last index leave the
    rest to a bag behind them."""
    starts = torch.zeros(indices.shape[0] + 1, dtype=offsets.dtype, device=indices.device)
    starts = starts.index_add(0, offsets, torch.ones_like(offsets))
    return starts[:-1].cumsum(0, dtype=offsets.dtype) - 1


def _sums(x: torch.Tensor, bag: torch.Tensor, bags: int) -> torch.Tensor:
    return torch.zeros((bags + 1, *x.shape[1:]), dtype=x.dtype, device=x.device).index_add(0, bag, x)[:bags]


def _wide(x: torch.Tensor) -> torch.Tensor:
    return x.to(torch.float32) if x.dtype in (torch.float16, torch.bfloat16) else x


def embedding_bag_backward(
    grad: torch.Tensor, indices: torch.Tensor, offsets: torch.Tensor, offset2bag: torch.Tensor, bag_size: torch.Tensor,
    maximum_indices: torch.Tensor, num_weights: int, scale_grad_by_freq: bool, mode: int, sparse: bool,
    per_sample_weights: torch.Tensor | None = None, padding_idx: int = -1,
) -> torch.Tensor:  # fmt: skip
    """``aten::_embedding_bag_backward``: grad (bags, columns) -> (num_weights, columns)."""
    if mode == _MAXIMUM or sparse or scale_grad_by_freq:
        raise NotImplementedError
    bag, counted = _bags(indices, offsets), indices != padding_idx
    if mode == _MEAN:
        grad = grad / bag_size.clamp(min=1)[:, None]
    rows = _rows(grad, bag)
    if per_sample_weights is not None:
        rows = rows * per_sample_weights[:, None]
    table = torch.zeros((num_weights, grad.shape[1]), dtype=grad.dtype, device=grad.device)
    return table.index_add(0, indices, torch.where(counted[:, None], rows, 0).to(grad.dtype))


def _rows(grad: torch.Tensor, bag: torch.Tensor) -> torch.Tensor:
    """Per index the gradient of its bag; 0 behind the last bag."""
    behind = torch.zeros((1, grad.shape[1]), dtype=grad.dtype, device=grad.device)
    return torch.cat([grad, behind]).index_select(0, bag)


def per_sample_weights_backward(
    grad: torch.Tensor, weight: torch.Tensor, indices: torch.Tensor, offsets: torch.Tensor, offset2bag: torch.Tensor,
    mode: int, padding_idx: int = -1,
) -> torch.Tensor:  # fmt: skip
    """``aten::_embedding_bag_per_sample_weights_backward``: (n,)."""
    products = (_rows(grad, _bags(indices, offsets)) * weight.index_select(0, indices)).sum(1)
    return torch.where(indices != padding_idx, products, 0).to(grad.dtype)


def embedding_renorm(weight: torch.Tensor, indices: torch.Tensor, max_norm: float, norm_type: float) -> torch.Tensor:
    """``aten::embedding_renorm``: the table with those of its rows that are looked up no longer than ``max_norm``. An
    index that comes twice writes one row twice."""
    flat = indices.reshape(-1)
    rows = weight.index_select(0, flat)
    norms = torch.linalg.vector_norm(_wide(rows), norm_type, 1, True)
    short = (_wide(rows) * (max_norm / (norms + 1e-7))).to(weight.dtype)
    return weight.index_put((flat,), torch.where(norms > max_norm, short, rows))


EMBEDDING: dict[str, Callable[..., Any]] = {
    "_embedding_bag": embedding_bag,
    "_embedding_bag_forward_only": embedding_bag,
    "_embedding_bag_backward": embedding_bag_backward,
    "embedding_renorm": embedding_renorm,
    "_embedding_bag_per_sample_weights_backward": per_sample_weights_backward,
}
