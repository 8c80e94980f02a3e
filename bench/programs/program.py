"""What a program of the benchmark consists of."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

__all__ = ["Batch", "Params", "Program"]

Params = Mapping[str, Any]
"""jax arrays under the names of the module's state dict."""
Batch = tuple[Any, ...]


@dataclass(frozen=True)
class Program:
    """``module``: the network; ``batch``: the inputs and, last, the int64 targets; ``logits``: the network on jax
    arrays. Both sides minimize the cross entropy with AdamW."""

    name: str
    module: Callable[[], nn.Module]
    batch: Callable[[], tuple[torch.Tensor, ...]]
    logits: Callable[..., Any]
