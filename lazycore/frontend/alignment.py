"""Connectionist temporal classification. Its lengths are a part of the program: what has many runs on the CPU, where
nothing is compiled for each."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import torch

from lazycore.frontend.at_once import eager_kernel
from lazycore.frontend.codegen import functional_kernel
from lazycore.frontend.schema import info_of

__all__ = ["ctc_loss", "ctc_loss_backward"]

aten = torch.ops.aten
Lengths = tuple[tuple[int, ...], tuple[int, ...]]

_FEW = 2
"""Lengths that scores of one shape may have: those of a batch to train on, and of one to evaluate."""
_MOST_SHAPES = 1024

_known: dict[Any, set[Lengths]] = {}


def ctc_loss(log_probs: torch.Tensor, targets: torch.Tensor, inputs: Any, lengths: Any, *rest: Any) -> Any:
    """``aten::_ctc_loss``: log-probabilities (steps, batch, classes) -> losses (batch,) and what backward needs."""
    chosen = _kernels(aten._ctc_loss.default)[_vary(log_probs, inputs, lengths)]
    return chosen(log_probs, targets, inputs, lengths, *rest)


def ctc_loss_backward(
    grad: torch.Tensor, log_probs: torch.Tensor, targets: torch.Tensor, inputs: Any, lengths: Any, *rest: Any
) -> torch.Tensor:
    """``aten::_ctc_loss_backward``: (steps, batch, classes)."""
    chosen = _kernels(aten._ctc_loss_backward.default)[_vary(log_probs, inputs, lengths)]
    return chosen(grad, log_probs, targets, inputs, lengths, *rest)  # type: ignore[no-any-return]


@cache
def _kernels(op: Any) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """Recorded, and run at once."""
    info = info_of(op)
    return functional_kernel(info), eager_kernel(info)


def _vary(log_probs: torch.Tensor, inputs: Any, lengths: Any) -> bool:
    if len(_known) >= _MOST_SHAPES:
        _known.clear()
    known = _known.setdefault((log_probs.shape, log_probs.dtype), set())
    if len(known) < _FEW:
        known.add((tuple(inputs), tuple(lengths)))
    return (tuple(inputs), tuple(lengths)) not in known
