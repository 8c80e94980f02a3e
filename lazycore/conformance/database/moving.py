"""Arguments as the CPU gets them and as the device gets them."""

from __future__ import annotations

from typing import Any

import torch
from torch.utils import _pytree as pytree

from lazycore.conformance.database.compare import DEVICE

__all__ = ["copied", "moved", "tensors"]


def copied(tree: Any) -> Any:
    """The same structure with tensors of its own."""
    return pytree.tree_map(_copy, tree)


def moved(tree: Any) -> Any:
    """The same structure on the device; devices named in it, too."""
    return pytree.tree_map(_move, tree)


def tensors(tree: Any) -> list[torch.Tensor]:
    """All tensors of a structure."""
    return [t for t in pytree.tree_leaves(tree) if isinstance(t, torch.Tensor)]


def _copy(x: Any) -> Any:
    if not isinstance(x, torch.Tensor):
        return x
    format = torch.preserve_format if x.layout is torch.strided else None
    copy = x.detach().clone() if format is None else x.detach().clone(memory_format=format)
    return copy.requires_grad_(x.requires_grad)


def _move(x: Any) -> Any:
    if isinstance(x, torch.Tensor) and x.device.type == "cpu":
        return x.detach().to(DEVICE).requires_grad_(x.requires_grad)
    if isinstance(x, torch.device) and x.type == "cpu":
        return torch.device(DEVICE)
    return DEVICE if x == "cpu" and isinstance(x, str) else x
