"""Which function decomposes which op. Ours come first, then torch's, those outside its core set among them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from lazycore.frontend.decompositions.bessel import BESSEL
from lazycore.frontend.decompositions.distances import DISTANCES
from lazycore.frontend.decompositions.elementwise import ELEMENTWISE
from lazycore.frontend.decompositions.embedding import EMBEDDING
from lazycore.frontend.decompositions.gamma import GAMMA
from lazycore.frontend.decompositions.gradients import GRADIENTS
from lazycore.frontend.decompositions.grouping import GROUPING
from lazycore.frontend.decompositions.linalg import LINALG
from lazycore.frontend.decompositions.ordering import ORDERING
from lazycore.frontend.decompositions.pooling import POOLING
from lazycore.frontend.decompositions.reducing import REDUCING
from lazycore.frontend.decompositions.sampling import SAMPLING
from lazycore.frontend.decompositions.shapes import SHAPES
from lazycore.frontend.decompositions.special import SPECIAL
from lazycore.frontend.decompositions.upsampling import UPSAMPLING
from lazycore.frontend.schema import overload

__all__ = ["table"]

_OURS: dict[str, Callable[..., Any]] = {
    **SHAPES, **ELEMENTWISE, **ORDERING, **REDUCING, **DISTANCES, **POOLING, **SAMPLING, **GRADIENTS,
    **GROUPING,
    **SPECIAL, **GAMMA, **BESSEL, **LINALG, **EMBEDDING, **UPSAMPLING,
}  # fmt: skip


@cache
def table() -> Mapping[Any, Callable[..., Any]]:
    """OpOverload -> a function of the same signature that computes it by other ops."""
    from torch._decomp import core_aten_decompositions, global_decomposition_table

    torchs = {**global_decomposition_table["post_autograd"], **core_aten_decompositions()}
    return torchs | {overload(f"aten::{name}"): function for name, function in _OURS.items()}
