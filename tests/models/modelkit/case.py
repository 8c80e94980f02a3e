"""What a row of the model tables is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import torch
from torch import nn

__all__ = ["Built", "Case"]

Built: TypeAlias = tuple[nn.Module, dict[str, Any]]
"""A module and the keyword arguments of its forward, which returns its loss as ``.loss`` or first."""


@dataclass(frozen=True)
class Case:
    """``make()`` builds the model on the CPU; it needs the library ``library``."""

    library: str
    make: Callable[[], Built]

    def build(self, seed: int = 0) -> Built:
        """The model and its inputs, equal in every call with the same seed."""
        torch.manual_seed(seed)
        return self.make()
