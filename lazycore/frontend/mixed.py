"""Dtypes that torch does not promote: the CPU says whether it takes them, when the call is new.

Meta kernels let a float matrix times a double one pass, a product of truth values and a pool of integers, and the trace
would compute what the CPU refuses, or fail as a whole later. Tensors of float32 or float64 alone are not asked about.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import torch
from lazycore_plugin_api.opset import Promotion
from torch.utils import _pytree as pytree

from lazycore.frontend.schema import OpInfo

__all__ = ["ABOUT_DTYPES", "refuse_mixed"]

Call = Callable[[OpInfo, tuple[Any, ...], Mapping[str, Any], int | None], Any]

ABOUT_DTYPES = re.compile(
    r"data ?type|dtype|scalar type|tensors of type|\bbool|complex|floating|\bfloat\b|integral|not implemented for",
    re.IGNORECASE,
)
# Lists of parameters, whose kernels take each tensor for itself: a run of zeros costs what a step costs.
_LISTS = ("_foreach", "_fused")
# Ops that make tensors of any dtype they are asked for, but for these.
_RANGES = frozenset(("arange", "linspace", "logspace"))
_COMMON = frozenset((torch.float32, torch.float64))
_SMALL = 1 << 20
_SHRUNK = 8
_taken: set[Any] = set()


def refuse_mixed(info: OpInfo, args: tuple[Any, ...], kwargs: Mapping[str, Any], zeros: Call) -> None:
    """Raise what the CPU raises about the dtypes of the call. ``zeros`` makes the call on the CPU, with zeros of the
    same shapes or, where they hold many, of sizes up to a limit: asked once for each combination that is taken."""
    if info.row.promotion is not Promotion.none or info.base.startswith(_LISTS) or info.op.namespace != "aten":
        return
    if torch.Tag.nondeterministic_seeded in info.tags or not _questionable(info, args, kwargs):
        return
    leaves = pytree.tree_leaves((args, kwargs))
    kinds = (info.op, *map(_kind, leaves))
    if kinds in _taken:
        return
    elements = sum(x.numel() for x in leaves if isinstance(x, torch.Tensor))
    try:
        zeros(info, args, kwargs, None if elements <= _SMALL else _SHRUNK)
    except NotImplementedError:
        raise
    except Exception as error:
        if ABOUT_DTYPES.search(str(error)):
            raise
        return  # What zeros have done wrong: values may be right where zeros are not.
    _taken.add(kinds)


def _kind(x: Any) -> Any:
    """What an answer depends on: kernels are chosen by rank and mode, and not asked for what is empty."""
    if isinstance(x, torch.Tensor):
        return x.dtype, x.dim(), not x.numel()
    return x if isinstance(x, (str, bool, torch.dtype)) else type(x)


def _questionable(info: OpInfo, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> bool:
    """Whether operands other than indices differ in dtype or have an uncommon one, or an index is no integer."""
    indices = {operand.argument for operand in info.row.index}
    named = [*zip((a.name for a in info.args), args, strict=False), *kwargs.items()]
    values = {t.dtype for name, x in named if name not in indices for t in _tensors(x)}
    if info.base in _RANGES:
        values |= {x for _, x in named if isinstance(x, torch.dtype)}
    positions = (t.dtype for name, x in named if name in indices for t in _tensors(x))
    return len(values) > 1 or not values <= _COMMON or any(d.is_floating_point or d.is_complex for d in positions)


def _tensors(x: Any) -> Iterator[torch.Tensor]:
    return (item for item in (x if isinstance(x, (list, tuple)) else (x,)) if isinstance(item, torch.Tensor))
