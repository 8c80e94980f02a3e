"""Values that the CPU's kernels refuse: the program's next observation raises what the CPU raises at once."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import torch

from lazycore.frontend.guard import guard
from lazycore.frontend.kernels import recorded
from lazycore.frontend.storage import is_ours

__all__ = ["DOMAINS"]

aten = torch.ops.aten


def binary_cross_entropy(x: torch.Tensor, target: torch.Tensor, *rest: Any, **named: Any) -> torch.Tensor:
    """``aten::binary_cross_entropy``: of shares, from 0 to 1, and such targets. A NaN is none."""
    loss: torch.Tensor = recorded(aten.binary_cross_entropy.default)(x, target, *rest, **named)
    for name, shares in ("input", x), ("target", target):
        guard(shares.clamp(0, 1) == shares, f"all elements of {name} should be between 0 and 1")
    return loss


def _searchsorted(
    op: Any, edges: torch.Tensor, x: Any, *, sorter: torch.Tensor | None = None, **named: Any
) -> torch.Tensor:
    """``aten::searchsorted``: what sorts the sequence counts its places."""
    if sorter is not None and is_ours(sorter) and edges.dim():
        last = edges.shape[-1] - 1
        guard((sorter >= 0) & (sorter <= last), "torch.searchsorted(): sorter index out of range")
        sorter = sorter.clamp(0, max(last, 0))
    found: torch.Tensor = recorded(op)(edges, x, sorter=sorter, **named)
    return found


def _embedding_bag(
    op: Any, weight: torch.Tensor, indices: torch.Tensor, offsets: torch.Tensor, *rest: Any, **named: Any
) -> tuple[torch.Tensor, ...]:
    """``aten::_embedding_bag``: the first bag begins where the indices do."""
    bags: tuple[torch.Tensor, ...] = recorded(op)(weight, indices, offsets, *rest, **named)
    if is_ours(offsets):
        message = "offsets[0] has to be 0, i.e., the first sequence in the mini-batch has to start from position 0."
        guard(offsets[:1] == 0, message)
    return bags


DOMAINS: dict[str, Callable[..., Any]] = {
    "binary_cross_entropy": binary_cross_entropy,
    "_embedding_bag": partial(_embedding_bag, aten._embedding_bag.default),
    "_embedding_bag_forward_only": partial(_embedding_bag, aten._embedding_bag_forward_only.default),
    "searchsorted.Tensor": partial(_searchsorted, aten.searchsorted.Tensor),
    "searchsorted.Scalar": partial(_searchsorted, aten.searchsorted.Scalar),
}
