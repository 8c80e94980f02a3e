"""Filling what a mask selects with a list of values that may be too short, which only running it tells."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import torch

from lazycore.frontend.codegen import inplace_kernel
from lazycore.frontend.guard import guard
from lazycore.frontend.kernels import recorded
from lazycore.frontend.schema import info_of
from lazycore.frontend.storage import is_ours

__all__ = ["masked_scatter", "masked_scatter_"]

aten = torch.ops.aten


def masked_scatter(x: torch.Tensor, mask: torch.Tensor, source: torch.Tensor) -> torch.Tensor:
    """``aten::masked_scatter``. A source with fewer elements than the mask selects is an error of the next
    observation."""
    return recorded(aten.masked_scatter.default)(x, mask, _enough(x, mask, source))  # type: ignore[no-any-return]


def masked_scatter_(x: torch.Tensor, mask: torch.Tensor, source: torch.Tensor) -> torch.Tensor:
    """``aten::masked_scatter_``."""
    return _in_place()(x, mask, _enough(x, mask, source))  # type: ignore[no-any-return]


@cache
def _in_place() -> Callable[..., Any]:
    return inplace_kernel(info_of(aten.masked_scatter_.default))


def _enough(x: torch.Tensor, mask: torch.Tensor, source: torch.Tensor) -> torch.Tensor:
    """The source, made as long as the result where it is shorter; as it is where torch has an error to raise."""
    if not (is_ours(mask) and is_ours(source)) or mask.dtype is not torch.bool or source.dtype is not x.dtype:
        return source
    try:
        mask = mask.expand(torch.broadcast_shapes(x.shape, mask.shape))
    except RuntimeError:
        return source
    lacking = mask.numel() - source.numel()
    if lacking <= 0:
        return source
    guard(mask.sum() <= source.numel(), "Number of elements of source < number of ones in mask")
    return torch.cat([source.reshape(-1), source.new_zeros(lacking)])
