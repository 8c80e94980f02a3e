"""What a row of the model tables is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import torch
from torch import nn

__all__ = ["Built", "Case"]

Built: TypeAlias = tuple[nn.Module, dict[str, Any]]
"""A module and the keyword arguments of its forward, which returns its loss as ``.loss`` or first."""


@dataclass(frozen=True)
class Case:
    """``make()`` builds the model on the CPU; it needs the library ``library``.

    ``eager``: ops that may run eagerly, because their results' shapes depend on values. ``late``: why a third step or
    a second evaluation compiles something; ``varies``: why any does. ``descent``: train by plain gradient descent, as
    AdamW's first steps go by the gradients' signs, which rounding decides where batches are normalized over few
    elements.
    """

    library: str
    make: Callable[[], Built]
    eager: frozenset[str] = frozenset()
    late: str = ""
    varies: str = ""
    descent: bool = False

    def but(self, **changes: Any) -> Case:
        """The same model, held to something else."""
        return replace(self, **changes)

    def build(self, seed: int = 0) -> Built:
        """The model and its inputs, equal in every call with the same seed."""
        torch.manual_seed(seed)
        return self.make()
