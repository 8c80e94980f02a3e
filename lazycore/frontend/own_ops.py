"""The IR's own operators in PyTorch, for plans whose backends do not take them: moving windows, random bits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from lazycore_plugin_api.philox import philox_words

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


def philox(
    seed: torch.Tensor | int, offset: torch.Tensor | int, size: Sequence[int], words: int
) -> tuple[torch.Tensor, ...]:
    """``lazycore.philox``: the bits of one draw."""
    return tuple(map(torch.from_numpy, philox_words(int(seed), int(offset), size, words)))


OWN_OPS: dict[str, Callable[..., Any]] = {
    "lazycore.dynamic_slice.default": dynamic_slice,
    "lazycore.dynamic_update_slice.default": dynamic_update_slice,
    "lazycore.philox.default": philox,
}
