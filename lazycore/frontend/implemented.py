"""Elementwise and ordering ops on dtypes that torch's CPU kernels do not know, e.g. ``bitwise_and`` of floats, are
refused at once, and so is any op on complex32, which only the CPU computes.

Meta kernels let them pass, and the trace would fail as a whole later. Floats of 16 bits and fewer are left to the
backends: a device may well compute what the CPU does not.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch.utils import _pytree as pytree

from lazycore.frontend.schema import OpInfo

__all__ = ["NARROW", "refuse_unimplemented"]

Call = Callable[[OpInfo, tuple[Any, ...], Mapping[str, Any]], Any]

_log = logging.getLogger("lazycore")
NARROW = frozenset(
    dtype for dtype in vars(torch).values() if isinstance(dtype, torch.dtype) and dtype.is_floating_point
) - {torch.float32, torch.float64}  # fmt: skip
"""Floats of 16 bits and fewer."""
# Not of one element each, but an element is enough to know the dtypes that they order.
_ORDERING = frozenset((
    "argmax", "argmin", "median", "nanmedian", "kthvalue", "topk", "sort", "mode", "max", "min", "amax", "amin",
    "aminmax", "cummax", "cummin", "logcumsumexp",
))  # fmt: skip
_asked: set[Any] = set()


def refuse_unimplemented(info: OpInfo, args: tuple[Any, ...], kwargs: Mapping[str, Any], call: Call) -> None:
    """Raise the CPU's NotImplementedError for an op that it lacks for these dtypes. Asks once for each combination of
    types, with single zeros: broadcasting makes them as good as any shape of elementwise operands."""
    kinds = tuple(_kind(x) for x in pytree.tree_leaves((args, kwargs)))
    asked = torch.Tag.pointwise in info.tags or info.base in _ORDERING or torch.complex32 in kinds
    if info.base.startswith("_foreach") or not asked:
        return
    if (info.op, kinds) in _asked or not NARROW.isdisjoint(kinds):
        return
    small, named = pytree.tree_map(_single_zero, (args, dict(kwargs)))
    try:
        call(info, small, named)
    except NotImplementedError:
        raise
    except Exception as error:
        if "does not support" in str(error) or "not supported for" in str(error):
            raise
        _log.debug("%s of single zeros: %s; the real shapes passed", info.name, error)
    _asked.add((info.op, kinds))


def _kind(x: Any) -> Any:
    return x.dtype if isinstance(x, torch.Tensor) else type(x)


def _single_zero(x: Any) -> Any:
    if isinstance(x, torch.Tensor):
        return torch.zeros((1,) * x.dim(), dtype=x.dtype, device="cpu")
    return torch.device("cpu") if isinstance(x, torch.device) else x
