"""Layers of a transformer at inference, which torch's modules call as one op each: attention by several heads, and a
whole encoder layer. Composed of recorded ops."""

from __future__ import annotations

import math

import torch
from torch.nn import functional

__all__ = ["ENCODER"]

Optional = torch.Tensor | None
_SQUARE, _PADDING = 0, 1


def attend(
    query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, embed_dim: int, num_head: int,
    qkv_weight: torch.Tensor, qkv_bias: torch.Tensor, proj_weight: torch.Tensor, proj_bias: torch.Tensor,
    mask: Optional = None, need_weights: bool = True, average_attn_weights: bool = True, mask_type: int | None = None,
) -> tuple[torch.Tensor, Optional]:  # fmt: skip
    """``aten::_native_multi_head_attention``: (batch, L, embed_dim), (batch, S, embed_dim) twice -> (batch, L,
    embed_dim), and the weights (batch, L, S) or (batch, heads, L, S), None where they are not needed."""
    q, k, v = (
        x.unflatten(-1, (num_head, embed_dim // num_head)).transpose(1, 2)
        for x in _projected(query, key, value, qkv_weight, qkv_bias)
    )
    scores = (q / math.sqrt(q.shape[-1])) @ k.transpose(-2, -1)
    if mask is not None:
        scores = scores.masked_fill(_spread(mask, mask_type), -math.inf)
    weights = scores.softmax(-1)
    attended = functional.linear((weights @ v).transpose(1, 2).flatten(2), proj_weight, proj_bias)
    if not need_weights:
        return attended, None
    return attended, weights.sum(1) / num_head if average_attn_weights else weights


def _projected(
    query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor
) -> tuple[torch.Tensor, ...]:
    if query is key is value:
        return functional.linear(query, weight, bias).chunk(3, -1)
    parts = zip((query, key, value), weight.chunk(3), bias.chunk(3), strict=True)
    return tuple(functional.linear(*part) for part in parts)


def _spread(mask: torch.Tensor, kind: int | None) -> torch.Tensor:
    """Over (batch, heads, L, S). What is not 0 is masked, in a mask of floats too: so the CPU reads it."""
    mask = mask.to(torch.bool)
    if kind == _PADDING:
        return mask[:, None, None]
    return mask[None, None] if kind == _SQUARE else mask


def encode(
    src: torch.Tensor, embed_dim: int, num_heads: int, qkv_weight: torch.Tensor, qkv_bias: torch.Tensor,
    proj_weight: torch.Tensor, proj_bias: torch.Tensor, use_gelu: bool, norm_first: bool, eps: float,
    norm_weight_1: torch.Tensor, norm_bias_1: torch.Tensor, norm_weight_2: torch.Tensor, norm_bias_2: torch.Tensor,
    ffn_weight_1: torch.Tensor, ffn_bias_1: torch.Tensor, ffn_weight_2: torch.Tensor, ffn_bias_2: torch.Tensor,
    mask: Optional = None, mask_type: int | None = None,
) -> torch.Tensor:  # fmt: skip
    """``aten::_transformer_encoder_layer_fwd``: (batch, L, embed_dim) -> the same."""
    activation = functional.gelu if use_gelu else functional.relu

    def norm(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor, wanted: bool) -> torch.Tensor:
        return functional.layer_norm(x, (embed_dim,), weight, bias, eps) if wanted else x

    x = norm(src, norm_weight_1, norm_bias_1, norm_first)
    x = attend(
        x, x, x, embed_dim, num_heads, qkv_weight, qkv_bias, proj_weight, proj_bias, mask, False, True, mask_type
    )[0]
    x = between = norm(x + src, norm_weight_1, norm_bias_1, not norm_first)
    x = norm(x, norm_weight_2, norm_bias_2, norm_first)
    x = functional.linear(activation(functional.linear(x, ffn_weight_1, ffn_bias_1)), ffn_weight_2, ffn_bias_2)
    return norm(x + between, norm_weight_2, norm_bias_2, not norm_first)


ENCODER = {"_native_multi_head_attention": attend, "_transformer_encoder_layer_fwd": encode}
