"""The end of ``optimizer.step()`` ends the trace: a training step is what repeats."""

from __future__ import annotations

from typing import Any

from torch.optim.optimizer import Optimizer, register_optimizer_step_post_hook

from lazycore.frontend.local import local
from lazycore.frontend.sync import barrier

__all__ = ["install"]


def _after_step(optimizer: Optimizer, args: Any, kwargs: Any) -> None:  # noqa: ARG001
    if local.trace.node.depth:
        barrier("the end of optimizer.step()")


def install() -> None:
    """Hook all optimizers, made before or after."""
    register_optimizer_step_post_hook(_after_step)
