"""Scaled dot-product attention, composed of matrix products and a softmax.

torch picks among fused attentions by a table in C++ that no Python device can enter; left alone it always takes its
slowest path. Composed here, a backend sees the plain pattern, which compilers know.

What the CPU's fused kernel takes is recorded as that kernel's op, one entry each way, and as little differentiable
twice as there; only tangents, which that op has none of, need the parts.
"""

from __future__ import annotations

import math
from typing import Any

import torch
import torch.autograd.forward_ad as forward_ad

__all__ = ["ATTENTION", "safe_softmax", "scaled_dot_product_attention"]

aten = torch.ops.aten

_LOW = (torch.float16, torch.bfloat16)


def scaled_dot_product_attention(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attn_mask: torch.Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    *,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> torch.Tensor:
    """``torch.nn.functional.scaled_dot_product_attention``: (…, L, E), (…, S, E), (…, S, V) -> (…, L, V).

    A boolean mask is True where a key takes part; rows without any give zeros. Half types compute in float32, as the
    CPU's kernel does. Raises RuntimeError where dtypes differ, or both a mask and ``is_causal`` are given and it is not
    the fused kernel, which heeds both, that computes.
    """
    _check(query, key, value, attn_mask, enable_gqa)
    if enable_gqa:
        key, value = _repeated(key, query), _repeated(value, query)
    if not dropout_p and _is_fused(query, key, value, attn_mask):
        fused = aten._scaled_dot_product_flash_attention_for_cpu.default
        attended: torch.Tensor = fused(query, key, value, 0.0, is_causal, attn_mask=attn_mask, scale=scale)[0]
        return attended
    if is_causal and attn_mask is not None:
        raise RuntimeError("_scaled_dot_product_attention: Explicit attn_mask should not be set when is_causal=True")
    dtype = query.dtype
    query, key, value = _wide(query, key, value)
    weights = _softmax(_scores(query, key, attn_mask, is_causal, scale), attn_mask)
    if dropout_p:
        weights = torch.dropout(weights, dropout_p, True)
    return (weights @ value).to(dtype)


def _is_fused(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, mask: torch.Tensor | None) -> bool:
    """Whether the CPU's fused kernel takes these operands."""
    if forward_ad._current_level >= 0 or (mask is not None and mask.requires_grad):
        return False
    q, k = query.shape, key.shape
    return len(q) == 4 == len(k) and k == value.shape and q[:2] == k[:2] and q[3] == k[3] and 0 not in (*q, *k)


def _wide(*tensors: torch.Tensor) -> tuple[torch.Tensor, ...]:
    return tuple(t.float() for t in tensors) if tensors[0].dtype in _LOW else tensors


def _scores(
    query: torch.Tensor, key: torch.Tensor, mask: torch.Tensor | None, is_causal: bool, scale: float | None
) -> torch.Tensor:
    return _masked(query * _factor(query, scale) @ key.transpose(-2, -1), mask, is_causal)


def _factor(query: torch.Tensor, scale: float | None) -> float:
    if scale is not None:
        return scale
    return 1 / math.sqrt(query.size(-1)) if query.size(-1) else math.inf


def _softmax(scores: torch.Tensor, mask: torch.Tensor | None) -> torch.Tensor:
    return torch._safe_softmax(scores, -1) if mask is not None else torch.softmax(scores, -1)


def _attend(
    query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, dropout_p: float = 0.0, is_causal: bool = False, *,
    attn_mask: torch.Tensor | None = None, scale: float | None = None,
) -> tuple[torch.Tensor, torch.Tensor]:  # fmt: skip
    """``aten::_scaled_dot_product_flash_attention_for_cpu`` -> (batch, heads, L, E), and the logarithm of what the
    weights were divided by, (batch, heads, L)."""
    if dropout_p:
        raise RuntimeError(f"scaled_dot_product_attention_flash_attention: dropout must be 0.0, got {dropout_p}")
    q, k, v = _wide(query, key, value)
    scores = _scores(q, k, attn_mask, is_causal, scale)
    return (_softmax(scores, attn_mask) @ v).to(query.dtype), torch.logsumexp(scores, -1)


def _attend_backward(
    grad: torch.Tensor, query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, out: torch.Tensor,
    logsumexp: torch.Tensor, dropout_p: float, is_causal: bool, *, attn_mask: torch.Tensor | None = None,
    scale: float | None = None,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:  # fmt: skip
    """Its gradients by query, key and value. The weights are written as the forward writes them, so that one graph of
    both computes them once."""
    del out, logsumexp, dropout_p
    (g, q, k, v), dtype = _wide(grad, query, key, value), query.dtype
    weights = _softmax(_scores(q, k, attn_mask, is_causal, scale), attn_mask)
    by_value = weights.transpose(-2, -1) @ g
    by_scores = aten._softmax_backward_data.default(g @ v.transpose(-2, -1), weights, -1, weights.dtype)
    factor = _factor(q, scale)
    by_query = by_scores @ k * factor
    by_key = by_scores.transpose(-2, -1) @ (q * factor)
    return by_query.to(dtype), by_key.to(dtype), by_value.to(dtype)


ATTENTION: dict[str, Any] = {
    "_scaled_dot_product_flash_attention_for_cpu": _attend,
    "_scaled_dot_product_flash_attention_for_cpu_backward": _attend_backward,
}


def _check(
    query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, mask: torch.Tensor | None, enable_gqa: bool
) -> None:
    """One dtype, two dimensions at least; a mask's dtype may be bool or float32 as well. Other operands are the CPU's
    to refuse."""
    fits = mask is None or (mask.dtype in (torch.bool, torch.float32, query.dtype) and mask.dim() > 1)
    if query.dtype == key.dtype == value.dtype and fits and query.dim() > 1:
        return
    alike = [
        None if x is None else torch.zeros(x.shape, dtype=x.dtype, device="cpu", requires_grad=x.requires_grad)
        for x in (query, key, value, mask)
    ]
    torch.nn.functional.scaled_dot_product_attention(*alike, enable_gqa=enable_gqa)


def _repeated(heads: torch.Tensor, query: torch.Tensor) -> torch.Tensor:
    """Each key or value head once for every query head of its group."""
    groups, rest = divmod(query.size(-3), heads.size(-3)) if heads.size(-3) else (0, 1)
    if rest:
        raise RuntimeError(
            "Number of heads in key and value must divide the number of heads in "
            f"query, got {heads.size(-3)} and {query.size(-3)}"
        )
    return heads if groups == 1 else heads.repeat_interleave(groups, -3)


def _masked(scores: torch.Tensor, mask: torch.Tensor | None, is_causal: bool) -> torch.Tensor:
    if mask is not None:
        _check_fits(mask, scores)
        scores = _only(scores, mask) if mask.dtype is torch.bool else scores + mask
    if is_causal:
        scores = _only(scores, torch.ones(scores.shape[-2:], dtype=torch.bool, device=scores.device).tril())
    return scores


def _only(scores: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    return scores.masked_fill(mask.logical_not(), -math.inf)


def _check_fits(mask: torch.Tensor, scores: torch.Tensor) -> None:
    """The scores have their shape already: the CPU adds the mask in place."""
    sizes = zip(reversed(mask.shape), reversed(scores.shape), strict=False)
    if mask.dim() > scores.dim() or any(given != 1 == own for given, own in sizes):
        both = torch.broadcast_shapes(mask.shape, scores.shape)
        raise RuntimeError(f"output with shape {list(scores.shape)} doesn't match the broadcast shape {list(both)}")


def safe_softmax(x: torch.Tensor, dim: int, dtype: torch.dtype | None = None) -> torch.Tensor:
    """``aten::_safe_softmax``: a softmax that is 0 where a whole row is -inf."""
    x = x if dtype is None else x.to(dtype)
    nothing = x.eq(-math.inf).all(dim, True)
    return torch.softmax(x, dim).masked_fill(nothing, 0.0)
