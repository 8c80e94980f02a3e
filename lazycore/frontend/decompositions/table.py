"""Which function decomposes which op. Ours come first, then torch's: also those that torch keeps out of its core set."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from lazycore.frontend.decompositions.elementwise import ELEMENTWISE
from lazycore.frontend.decompositions.shapes import SHAPES
from lazycore.frontend.schema import overload

__all__ = ["table"]

_OURS: dict[str, Callable[..., Any]] = {**SHAPES, **ELEMENTWISE}


@cache
def table() -> Mapping[Any, Callable[..., Any]]:
    """OpOverload -> a function of the same signature that computes it by other ops."""
    from torch._decomp import core_aten_decompositions, global_decomposition_table

    torchs = {**global_decomposition_table["post_autograd"], **core_aten_decompositions()}
    return torchs | {overload(f"aten::{name}"): function for name, function in _OURS.items()}
