"""How composite ops are composed of others: torch's way, or ours where that is better."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from lazycore.frontend.attention import scaled_dot_product_attention
from lazycore.frontend.cross_entropy import cross_entropy_loss

__all__ = ["composition_of"]

_COMPOSITE = "CompositeImplicitAutograd"
_OWN: dict[str, Callable[..., Any]] = {
    "aten.scaled_dot_product_attention.default": scaled_dot_product_attention,
    "aten.cross_entropy_loss.default": cross_entropy_loss,
}


def composition_of(op: Any) -> Callable[..., Any] | None:
    """How an op is composed of others; None for one that is no composite."""
    composite = torch._C._dispatch_has_kernel_for_dispatch_key(op.name(), _COMPOSITE)
    return _OWN.get(str(op), op.decompose) if composite else None
