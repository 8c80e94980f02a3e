"""Operands of several dtypes where torch promotes none: the CPU says whether it takes them, when the call is new.

Meta kernels let a float matrix times a double one pass, and the trace would compute what the CPU refuses, or fail as a
whole later.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import torch
from lazycore_plugin_api.opset import Promotion
from torch.utils import _pytree as pytree

from lazycore.frontend.implemented import NARROW
from lazycore.frontend.schema import OpInfo

__all__ = ["refuse_mixed"]

Call = Callable[[OpInfo, tuple[Any, ...], Mapping[str, Any]], Any]

_ABOUT_DTYPES = re.compile(r"dtype|data ?type|scalar type", re.IGNORECASE)
# Lists of parameters, whose kernels take each tensor for itself: a run of zeros costs what a step costs.
_LISTS = ("_foreach", "_fused")
_taken: set[Any] = set()


def refuse_mixed(info: OpInfo, args: tuple[Any, ...], kwargs: Mapping[str, Any], zeros: Call) -> None:
    """Raise what the CPU raises about the dtypes of the call's tensors. ``zeros`` makes the call on the CPU, with zeros
    of the same shapes: asked once for each combination of types that is taken."""
    if info.row.promotion is not Promotion.none or info.base.startswith(_LISTS) or info.op.namespace != "aten":
        return
    if not _questionable(info, args):
        return
    kinds = tuple(x.dtype if isinstance(x, torch.Tensor) else type(x) for x in pytree.tree_leaves((args, kwargs)))
    if (info.op, kinds) in _taken:
        return
    try:
        zeros(info, args, kwargs)
    except NotImplementedError:
        if NARROW.isdisjoint(kinds):
            raise
        return  # A backend may well have what the CPU lacks.
    except Exception as error:
        if _ABOUT_DTYPES.search(str(error)):
            raise
        return  # What zeros have done wrong: values may be right where zeros are not.
    _taken.add((info.op, kinds))


def _questionable(info: OpInfo, args: tuple[Any, ...]) -> bool:
    """Whether operands other than indices differ in dtype, or an index is no integer."""
    indices = {operand.argument for operand in info.row.index}
    named = list(zip((a.name for a in info.args), args, strict=False))
    values = {t.dtype for name, x in named if name not in indices for t in _tensors(x)}
    positions = (t.dtype for name, x in named if name in indices for t in _tensors(x))
    return len(values) > 1 or any(dtype.is_floating_point or dtype.is_complex for dtype in positions)


def _tensors(x: Any) -> Iterator[torch.Tensor]:
    return (item for item in (x if isinstance(x, (list, tuple)) else (x,)) if isinstance(item, torch.Tensor))
