"""Shape functions that torch lacks: what an op's results on Meta are. Without one, an op runs at once on the CPU."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch

__all__ = ["SHAPES"]


def geqrf(a: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """``aten::geqrf`` of (…, m, n): the packed factors, column by column in memory, and min(m, n) numbers."""
    return torch.empty_like(a.mT.contiguous()).mT, a.new_empty(*a.shape[:-2], min(a.shape[-2:]))


def ctc_loss_backward(_: torch.Tensor, log_probs: torch.Tensor, *__: Any) -> torch.Tensor:
    """``aten::_ctc_loss_backward``: as the log-probabilities, row-major."""
    return torch.empty_like(log_probs, memory_format=torch.contiguous_format)


def multilabel_margin_loss_backward(_: torch.Tensor, x: torch.Tensor, *__: Any) -> torch.Tensor:
    """``aten::multilabel_margin_loss_backward``: as the scores, row-major."""
    return torch.empty_like(x, memory_format=torch.contiguous_format)


SHAPES: Mapping[str, Callable[..., Any]] = {
    "aten.geqrf.default": geqrf,
    "aten._ctc_loss_backward.default": ctc_loss_backward,
    "aten.multilabel_margin_loss_backward.default": multilabel_margin_loss_backward,
}
"""By the overload's name, called with its arguments on Meta where its Meta kernel is missing."""
