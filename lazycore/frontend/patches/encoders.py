"""``nn.TransformerEncoder`` at inference, given which steps are padding, goes on with a nested tensor.

The device has none. What comes out is a padded batch again, 0 where the padding is: so it is here, but that the layers
are given the padding as a mask. Which batches torch nests is torch's to decide: it is asked first.
"""

from __future__ import annotations

from functools import update_wrapper
from types import FunctionType
from typing import Any

import torch
from torch.nn import TransformerEncoder

from lazycore.frontend.refusals import KINDS

__all__ = ["install", "nest"]


class _Nests(NotImplementedError):
    """torch would make a nested tensor of a batch."""


def nest(batch: torch.Tensor, mask: torch.Tensor, mask_check: bool = True) -> torch.Tensor:  # noqa: ARG001
    """``aten::_nested_tensor_from_mask``. Raises NotImplementedError."""
    kind, advice = KINDS["NestedTensorPrivateUse1"]
    raise _Nests(f"lazycore has no {kind} (aten._nested_tensor_from_mask.default): {advice}")


def install() -> None:
    """Wrap ``TransformerEncoder.forward``."""
    original, nests, padded = TransformerEncoder.forward, _Nests, _padded

    def forward(self: Any, src: Any, mask: Any = None, src_key_padding_mask: Any = None, is_causal: Any = None) -> Any:
        try:
            return original(self, src, mask, src_key_padding_mask, is_causal)
        except nests:
            # Before any layer was called.
            return padded(self, src, src_key_padding_mask, is_causal is True)

    # torch.jit.script reads the original's source, and looks its names up among the globals of what it was given.
    code, names = forward.__code__, original.__globals__
    wrapper = FunctionType(code, names, original.__name__, original.__defaults__, forward.__closure__)
    TransformerEncoder.forward = update_wrapper(wrapper, original)  # type: ignore[method-assign]


def _padded(encoder: Any, batch: torch.Tensor, padding: torch.Tensor, is_causal: bool) -> torch.Tensor:
    for layer in encoder.layers:
        batch = layer(batch, src_mask=None, is_causal=is_causal, src_key_padding_mask=padding)
    masked = padding if padding.dtype is torch.bool else padding != 0
    batch = batch.masked_fill(masked.unsqueeze(-1), 0.0)
    return batch if encoder.norm is None else encoder.norm(batch)
