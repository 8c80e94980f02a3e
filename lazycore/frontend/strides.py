"""The strides that torch gives a tensor made like another one."""

from __future__ import annotations

from functools import lru_cache

import torch

__all__ = ["stride_like"]


# Asking torch makes two tensors, by its kernels in Python: more than recording a whole call takes.
@lru_cache(maxsize=4096)
def stride_like(
    size: tuple[int, ...], stride: tuple[int, ...], memory_format: torch.memory_format | None = None
) -> tuple[int, ...]:
    """The strides of ``torch.empty_like(x, memory_format=memory_format)`` for an x of this geometry on CPU. Raises what
    torch raises for a memory format that the number of dimensions does not have."""
    x = torch.empty_strided(size, stride, device="meta")
    wanted = memory_format or torch.preserve_format
    # CPU keeps these as they are, Meta makes those of empty tensors and of dimensions of size 1 anew.
    if wanted is torch.preserve_format and torch.ops.aten.is_non_overlapping_and_dense(x):
        return stride
    return torch.empty_like(x, memory_format=wanted).stride()
