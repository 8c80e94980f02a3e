"""Memory formats that torch's CPU kernels choose and its Meta kernels do not know of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch._prims_common import are_strides_like_channels_last_or_false

from lazycore.frontend.schema import OpInfo

__all__ = ["formatted"]

# The operands that decide: where any of them has its channels last, every result has.
_DECIDING = {"convolution": (0, 1), "convolution_backward": (1, 2)}
_CHANNELS_LAST = {4: torch.channels_last, 5: torch.channels_last_3d}


def formatted(
    info: OpInfo, args: Sequence[Any], outputs: tuple[torch.Tensor | None, ...]
) -> tuple[torch.Tensor | None, ...]:
    """An op's Meta results with the strides that the CPU's kernel would give them."""
    deciding = _DECIDING.get(info.base)
    if deciding is None or not any(_has_channels_last(args[i]) for i in deciding):
        return outputs
    return tuple(o if o is None else _with_channels_last(o) for o in outputs)


def _has_channels_last(x: torch.Tensor) -> bool:
    # By strides alone: one pixel or one channel is contiguous both ways, and its strides tell what it was made as.
    return x.dim() in _CHANNELS_LAST and are_strides_like_channels_last_or_false(x.shape, x.stride())


def _with_channels_last(x: torch.Tensor) -> torch.Tensor:
    wanted = _CHANNELS_LAST.get(x.dim())
    return x if wanted is None else x.contiguous(memory_format=wanted)
