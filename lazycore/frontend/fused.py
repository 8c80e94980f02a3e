"""Fused optimizer steps: torch's one kernel for all parameters, composed of recorded list ops.

Bias corrections are computed in float64, as the CPU's kernels do: in float32 ``1 - 0.999 ** 1`` keeps three digits.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

from lazycore.frontend.storage import is_ours

__all__ = ["FUSED"]

Tensors = list[torch.Tensor] | tuple[torch.Tensor, ...]


def _prepared(grads: Tensors, maximize: bool, grad_scale: torch.Tensor | None) -> Tensors:
    """The gradients to descend along. Scaled ones are unscaled in place, as the CPU's kernels leave them."""
    if grad_scale is not None:
        torch._foreach_div_(grads, grad_scale)
    return torch._foreach_neg(grads) if maximize else grads


def _vector(steps: Tensors) -> torch.Tensor:
    return torch.stack(list(steps)).double()


def _numbers(vector: torch.Tensor, like: torch.Tensor) -> Tensors:
    """A vector's elements, one 0-d tensor per parameter."""
    dtype = torch.float64 if like.dtype is torch.float64 else torch.float32
    return vector.to(dtype).unbind()


def _unless_infinite(step: Callable[[], None], written: Sequence[Tensors], found_inf: torch.Tensor | None) -> None:
    """Take a step, then undo it on the device where ``found_inf`` says that a gradient was not finite."""
    if found_inf is None:
        step()
        return
    tensors = [t for group in written for t in group]
    before = [t.clone() for t in tensors]
    step()
    found = found_inf.to(torch.bool)
    for tensor, old in zip(tensors, before, strict=True):
        tensor.copy_(torch.where(found, old, tensor))


def _adam(decoupled: bool) -> Callable[..., None]:
    def kernel(
        params: Tensors, grads: Tensors, exp_avgs: Tensors, exp_avg_sqs: Tensors, max_exp_avg_sqs: Tensors,
        state_steps: Tensors, *, lr: Any, beta1: float, beta2: float, weight_decay: float, eps: float, amsgrad: bool,
        maximize: bool, grad_scale: torch.Tensor | None = None, found_inf: torch.Tensor | None = None,
    ) -> None:  # fmt: skip
        """``aten::_fused_adam_`` and ``_fused_adamw_``."""

        def step() -> None:
            along = _prepared(grads, maximize, grad_scale)
            if weight_decay and decoupled:
                torch._foreach_mul_(params, 1 - lr * weight_decay)
            elif weight_decay:
                along = torch._foreach_add(along, params, alpha=weight_decay)
            torch._foreach_lerp_(exp_avgs, along, 1 - beta1)
            torch._foreach_mul_(exp_avg_sqs, beta2)
            torch._foreach_addcmul_(exp_avg_sqs, along, along, 1 - beta2)
            if amsgrad:
                torch._foreach_maximum_(max_exp_avg_sqs, exp_avg_sqs)
            taken = _vector(state_steps)
            roots = torch._foreach_sqrt(max_exp_avg_sqs if amsgrad else exp_avg_sqs)
            torch._foreach_div_(roots, _numbers((1 - beta2**taken).sqrt(), params[0]))
            torch._foreach_add_(roots, eps)
            moves = torch._foreach_div(exp_avgs, roots)
            torch._foreach_mul_(moves, _numbers(_on(lr, params[0]) / (1 - beta1**taken), params[0]))
            torch._foreach_sub_(params, moves)

        _unless_infinite(step, (params, exp_avgs, exp_avg_sqs, max_exp_avg_sqs), found_inf)

    return kernel


def _on(number: Any, like: torch.Tensor) -> Any:
    """A learning rate, which may be a tensor on the CPU."""
    if isinstance(number, torch.Tensor) and not is_ours(number):
        return number.to(like.device)
    return number


def sgd(
    params: Tensors, grads: Tensors, momentum_buffer_list: Tensors, *, weight_decay: float, momentum: float, lr: Any,
    dampening: float, nesterov: bool, maximize: bool, is_first_step: bool, grad_scale: torch.Tensor | None = None,
    found_inf: torch.Tensor | None = None,
) -> None:  # fmt: skip
    """``aten::_fused_sgd_``."""

    def step() -> None:
        along = _prepared(grads, maximize, grad_scale)
        if weight_decay:
            along = torch._foreach_add(along, params, alpha=weight_decay)
        if momentum and is_first_step:
            torch._foreach_copy_(momentum_buffer_list, along)
        elif momentum:
            torch._foreach_mul_(momentum_buffer_list, momentum)
            torch._foreach_add_(momentum_buffer_list, along, alpha=1 - dampening)
        if momentum:
            pushed = torch._foreach_add(along, momentum_buffer_list, alpha=momentum)
            along = pushed if nesterov else momentum_buffer_list
        torch._foreach_sub_(params, torch._foreach_mul(along, _on(lr, params[0])))

    _unless_infinite(step, (params, momentum_buffer_list), found_inf)


def adagrad(
    params: Tensors, grads: Tensors, state_sums: Tensors, state_steps: Tensors, *, lr: Any, lr_decay: float,
    weight_decay: float, eps: float, maximize: bool, grad_scale: torch.Tensor | None = None,
    found_inf: torch.Tensor | None = None,
) -> None:  # fmt: skip
    """``aten::_fused_adagrad_``."""

    def step() -> None:
        along = _prepared(grads, maximize, grad_scale)
        if weight_decay:
            along = torch._foreach_add(along, params, alpha=weight_decay)
        torch._foreach_addcmul_(state_sums, along, along, 1)
        roots = torch._foreach_sqrt(state_sums)
        torch._foreach_add_(roots, eps)
        moves = torch._foreach_div(along, roots)
        rates = _on(lr, params[0]) / (1 + (_vector(state_steps) - 1) * lr_decay)
        torch._foreach_mul_(moves, _numbers(rates, params[0]))
        torch._foreach_sub_(params, moves)

    _unless_infinite(step, (params, state_sums), found_inf)


FUSED = {
    "_fused_adam_": _adam(decoupled=False),
    "_fused_adam_.tensor_lr": _adam(decoupled=False),
    "_fused_adamw_": _adam(decoupled=True),
    "_fused_adamw_.tensor_lr": _adam(decoupled=True),
    "_fused_sgd_": sgd,
    "_fused_sgd_.tensor_lr": sgd,
    "_fused_adagrad_": adagrad,
    "_fused_adagrad_.tensor_lr": adagrad,
}
