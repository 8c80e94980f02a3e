"""Scaled dot-product attention, composed of matrix products and a softmax.

torch picks among fused attentions by a table in C++ that no Python device can enter; left alone it always takes its
slowest path. Composed here, a backend sees the plain pattern, which compilers know.
"""

from __future__ import annotations

import math

import torch

__all__ = ["safe_softmax", "scaled_dot_product_attention"]

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
    CPU's kernel does. Raises RuntimeError where both a mask and ``is_causal`` are given, or dtypes differ.
    """
    _check_dtypes(query, key, value, attn_mask)
    if is_causal and attn_mask is not None:
        raise RuntimeError("_scaled_dot_product_attention: Explicit attn_mask should not be set when is_causal=True")
    dtype = query.dtype
    if dtype in _LOW:
        query, key, value = query.float(), key.float(), value.float()
    if enable_gqa:
        key, value = _repeated(key, query), _repeated(value, query)
    factor = 1 / math.sqrt(query.size(-1)) if scale is None else scale
    scores = _masked(query * factor @ key.transpose(-2, -1), attn_mask, is_causal)
    weights = torch._safe_softmax(scores, -1) if attn_mask is not None else torch.softmax(scores, -1)
    if dropout_p:
        weights = torch.dropout(weights, dropout_p, True)
    return (weights @ value).to(dtype)


def _check_dtypes(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, mask: torch.Tensor | None) -> None:
    """One dtype; a mask may be of truth values or float32 as well. Other differences are the CPU's to refuse."""
    fits = mask is None or mask.dtype in (torch.bool, torch.float32, query.dtype)
    if query.dtype == key.dtype == value.dtype and fits:
        return
    alike = [
        None if x is None else torch.zeros(x.shape, dtype=x.dtype, device="cpu") for x in (query, key, value, mask)
    ]
    torch.nn.functional.scaled_dot_product_attention(*alike)


def _repeated(heads: torch.Tensor, query: torch.Tensor) -> torch.Tensor:
    """Each key or value head once for every query head of its group."""
    groups, rest = divmod(query.size(-3), heads.size(-3))
    if rest:
        raise RuntimeError(
            "Number of heads in key and value must divide the number of heads in query, "
            f"got {heads.size(-3)} and {query.size(-3)}"
        )
    return heads if groups == 1 else heads.repeat_interleave(groups, -3)


def _masked(scores: torch.Tensor, mask: torch.Tensor | None, is_causal: bool) -> torch.Tensor:
    if is_causal:
        mask = torch.ones(scores.shape[-2:], dtype=torch.bool, device=scores.device).tril()
    if mask is None:
        return scores
    if mask.dtype is torch.bool:
        return scores.masked_fill(mask.logical_not(), -math.inf)
    return scores + mask


def safe_softmax(x: torch.Tensor, dim: int, dtype: torch.dtype | None = None) -> torch.Tensor:
    """``aten::_safe_softmax``: a softmax that is 0 where a whole row is -inf."""
    x = x if dtype is None else x.to(dtype)
    nothing = x.eq(-math.inf).all(dim, True)
    return torch.softmax(x, dim).masked_fill(nothing, 0.0)
