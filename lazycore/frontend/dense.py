"""Dense layers as one op each way, of matrix products of two dimensions: all leading ones are rows.

torch has the gradient for devices that have a ``linear`` of their own, and takes a layer apart for others: a transpose,
a product and two views each way. It has no tangent for it, nor for a recurrent cell that is one op, so that a program
which asks for tangents gets the parts meanwhile.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch
import torch.autograd.forward_ad as forward_ad

from lazycore.frontend.cells import CELLS

__all__ = ["DENSE", "take_apart_for_tangents"]

aten = torch.ops.aten
Optional = torch.Tensor | None


def linear_backward(
    x: torch.Tensor, grad: torch.Tensor, weight: torch.Tensor, mask: Sequence[bool]
) -> tuple[Optional, Optional, Optional]:
    """``aten::linear_backward``: (…, in), (…, out), (out, in) -> gradients of the three operands that ``mask`` asks
    for; the bias's is (out,). A weight (in,) is one output without a dimension of its own."""
    matrix = weight.unsqueeze(0) if weight.dim() == 1 else weight
    rows = grad.reshape(math.prod(x.shape[:-1]), matrix.shape[0])
    by_input = by_weight = by_bias = None
    if mask[0]:
        by_input = rows.mm(matrix.conj()).reshape(x.shape)
    if mask[1]:
        by_weight = rows.t().mm(x.reshape(rows.shape[0], x.shape[-1]).conj()).reshape(weight.shape)
    if mask[2]:
        by_bias = rows.sum(0).reshape(weight.shape[:-1])
    return by_input, by_weight, by_bias


DENSE: dict[str, Any] = {"linear": aten.linear.default.decompose, "linear_backward": linear_backward}


_WITHOUT_TANGENT = ("linear", "_thnn_fused_lstm_cell", "_thnn_fused_gru_cell")


def take_apart_for_tangents() -> None:
    """Have dense layers and cells recorded in parts for as long as a program has a level of tangents open."""
    enter, leave = forward_ad.enter_dual_level, forward_ad.exit_dual_level
    taken: list[torch.library.Library] = []

    def entered() -> int:
        level = enter()  # raises where one is open
        taken.append(_in_parts())
        return level

    def left(*, level: int | None = None) -> None:
        leave(level=level)
        taken.pop()._destroy()

    forward_ad.enter_dual_level, forward_ad.exit_dual_level = entered, left


def _in_parts() -> torch.library.Library:
    """The kernels that take apart; they go with the library."""
    library = torch.library.Library("aten", "IMPL")
    for name in _WITHOUT_TANGENT:
        library.impl(name, CELLS.get(name, aten.linear.default.decompose), "AutogradPrivateUse1")
    return library
