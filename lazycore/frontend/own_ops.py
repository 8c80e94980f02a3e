"""The IR's own operators in PyTorch, for plans whose backends do not take them: windows at run-time positions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

__all__ = ["OWN_OPS"]


def dynamic_slice(x: torch.Tensor, starts: Sequence[Any], sizes: Sequence[int]) -> torch.Tensor:
    """``lazycore.dynamic_slice``: the window of ``sizes`` that begins at ``starts``, one per dimension and in range."""
    return _window(x, starts, sizes).clone()


def dynamic_update_slice(x: torch.Tensor, update: torch.Tensor, starts: Sequence[Any]) -> torch.Tensor:
    """``lazycore.dynamic_update_slice``: ``x`` with ``update`` in its window that begins at ``starts``."""
    result = x.clone()
    _window(result, starts, update.shape).copy_(update)
    return result


def _window(x: torch.Tensor, starts: Sequence[Any], sizes: Sequence[int]) -> torch.Tensor:
    for dim, (start, size) in enumerate(zip(starts, sizes, strict=True)):
        x = x.narrow(dim, int(start), size)
    return x


OWN_OPS: dict[str, Callable[..., torch.Tensor]] = {
    "lazycore.dynamic_slice.default": dynamic_slice,
    "lazycore.dynamic_update_slice.default": dynamic_update_slice,
}
