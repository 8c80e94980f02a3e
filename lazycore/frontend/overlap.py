"""Writes over memory that is shared, refused as torch's CPU kernels refuse them; its Meta kernels do not look.

Both tests mirror ATen's ``MemoryOverlap.cpp``: where the geometry is too hard to tell, the write goes ahead.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch
from torch.utils import _pytree as pytree

from lazycore.frontend.schema import OpInfo
from lazycore.frontend.storage import is_ours
from lazycore.trace.layout import is_dense

__all__ = ["check_write", "refuse_internal", "refuse_shared"]

_INDEXED = ("index_copy_", "index_add_", "scatter_", "scatter_add_", "scatter_reduce_")
# These only warn where the target overlaps itself.
_TOLERANT = ("masked_fill_", "index_put_", "index_fill_", "masked_scatter_")
# An operand that is the target itself is refused too: its elements are read in another order than written.
_APART = (*_INDEXED, "index_put_")


def check_write(info: OpInfo, target: torch.Tensor, args: Iterable[Any]) -> None:
    """Raise RuntimeError where an in-place op's target shares memory with itself or an operand as it must not."""
    pointwise = torch.Tag.pointwise in info.tags
    if pointwise or info.base in _INDEXED:
        refuse_internal(target)
    if pointwise or info.base in _INDEXED or info.base in _TOLERANT:
        refuse_shared(target, args, entire=info.base in _APART)


def refuse_internal(target: torch.Tensor) -> None:
    """Raise RuntimeError where elements of the target are one element in memory."""
    repeated = any(step == 0 and extent > 1 for extent, step in zip(target.shape, target.stride(), strict=True))
    if repeated and target.numel():
        raise RuntimeError(
            "unsupported operation: more than one element of the written-to tensor refers to a single memory location. "
            "Please clone() the tensor before performing the operation."
        )


def refuse_shared(target: torch.Tensor, operands: Any, *, entire: bool = False) -> None:
    """Raise RuntimeError where an operand shares memory with the target in part, or as a whole where ``entire``."""
    for operand in pytree.tree_leaves(operands):
        if is_ours(operand) and _shares(target, operand, entire):
            raise RuntimeError(
                "unsupported operation: some elements of the input tensor and the written-to tensor refer to a single "
                "memory location. Please clone() the tensor before performing the operation."
            )


def _shares(a: torch.Tensor, b: torch.Tensor, entire: bool) -> bool:
    if a.untyped_storage() is not b.untyped_storage() or not a.numel() or not b.numel():
        return False
    if not (is_dense(tuple(a.shape), a.stride()) and is_dense(tuple(b.shape), b.stride())):
        return a is b and entire
    first, last = _extent(a)
    begin, end = _extent(b)
    if (first, last) == (begin, end) and a.stride() == b.stride():
        return entire
    return first < end and begin < last


def _extent(x: torch.Tensor) -> tuple[int, int]:
    start = x.storage_offset() * x.element_size()
    return start, start + x.numel() * x.element_size()
