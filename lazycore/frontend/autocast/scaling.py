"""What ``torch.amp.GradScaler`` asks of a device, composed of recorded ops.

The scale is a value like any other: it may change from step to step without a compilation.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

__all__ = ["SCALING"]

aten = torch.ops.aten


def unscale_(grads: Sequence[torch.Tensor], found_inf: torch.Tensor, inv_scale: torch.Tensor) -> None:
    """``aten::_amp_foreach_non_finite_check_and_unscale_``: multiply by ``inv_scale`` (float32, one element), and set
    ``found_inf`` to 1 where a gradient had an infinity or NaN."""
    if inv_scale.numel() != 1 or found_inf.numel() != 1:
        raise RuntimeError("inv_scale and found_inf must be 1-element tensors.")
    largest = [aten.linalg_vector_norm.default(g, float("inf")).float() for g in grads if g.numel()]
    if largest:
        # Zero times anything finite is zero; the sum of the rest is NaN.
        spoiled = aten.isnan.default(aten.sum.default(aten.mul.Tensor(torch.stack(largest), 0.0)))
        found_inf.copy_(torch.maximum(found_inf, spoiled.to(found_inf.dtype)))
    plain = [g for g in grads if g.dtype is torch.float32]
    if plain:
        torch._foreach_mul_(plain, inv_scale.reshape(()))
    for g in grads:
        if g.dtype is not torch.float32:
            # A scale that is no power of two would be rounded before it is multiplied by.
            g.copy_(g.float() * inv_scale)


def update_scale_(
    scale: torch.Tensor,
    growth_tracker: torch.Tensor,
    found_inf: torch.Tensor,
    growth_factor: float,
    backoff_factor: float,
    growth_interval: int,
) -> torch.Tensor:
    """``aten::_amp_update_scale_``: a smaller scale after a step that found an infinity, a larger one after
    ``growth_interval`` steps without one, unless it would be infinite itself."""
    if scale.numel() != 1 or growth_tracker.numel() != 1 or found_inf.numel() != 1:
        raise RuntimeError("current_scale, growth_tracker and found_inf must be 1-element tensors.")
    found = found_inf != 0
    steps = growth_tracker + 1
    due = steps == growth_interval
    grown = scale * growth_factor
    kept = torch.where(due & (grown < float("inf")), grown, scale)
    scale.copy_(torch.where(found, scale * backoff_factor, kept))
    growth_tracker.copy_(steps.masked_fill(found | due, 0))
    return scale


SCALING: dict[str, Callable[..., Any]] = {
    "_amp_foreach_non_finite_check_and_unscale_": unscale_,
    "_amp_update_scale_": update_scale_,
}
