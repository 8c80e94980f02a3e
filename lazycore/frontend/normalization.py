"""Batch normalization: its schema does not say so, but training writes the running statistics."""

from __future__ import annotations

from typing import Any

import torch

from lazycore.frontend.kernels import recorded

__all__ = ["batch_norm_with_update", "native_batch_norm"]

aten = torch.ops.aten


def native_batch_norm(
    x: torch.Tensor,
    weight: torch.Tensor | None,
    bias: torch.Tensor | None,
    running_mean: torch.Tensor | None,
    running_var: torch.Tensor | None,
    training: bool,
    momentum: float,
    eps: float,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """``aten::native_batch_norm`` -> output, saved mean, saved inverse deviation; the running statistics are updated
    in place where there are any and ``training`` is set. Raises ValueError where one of the two is given alone."""
    if (running_mean is None) != (running_var is None):
        raise ValueError("running_mean and running_var must either both be None or neither be None")
    if running_mean is None or running_var is None:
        op = recorded(aten._native_batch_norm_legit.no_stats)
        return op(x, weight, bias, training, momentum, eps)  # type: ignore[no-any-return]
    op = recorded(aten._native_batch_norm_legit_functional.default)
    out: Any = op(x, weight, bias, running_mean, running_var, training, momentum, eps)
    if training:
        aten.copy_.default(running_mean, out[3])
        aten.copy_.default(running_var, out[4])
        return out[0], out[1], out[2]
    # Evaluation saves nothing, and CPU says so with empty tensors.
    nothing = torch.empty(0, dtype=out[1].dtype, device=x.device)
    return out[0], nothing, torch.empty_like(nothing)


def batch_norm_with_update(
    x: torch.Tensor,
    weight: torch.Tensor | None,
    bias: torch.Tensor | None,
    running_mean: torch.Tensor,
    running_var: torch.Tensor,
    momentum: float,
    eps: float,
) -> tuple[torch.Tensor, ...]:
    """``aten::_batch_norm_with_update``: training, and the bytes that only cuDNN keeps for its gradient."""
    kept = torch.empty(0, dtype=torch.uint8, device=x.device)
    return *native_batch_norm(x, weight, bias, running_mean, running_var, True, momentum, eps), kept
