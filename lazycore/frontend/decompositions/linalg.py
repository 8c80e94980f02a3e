"""Linear algebra by triangular solves."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

__all__ = ["LINALG"]

aten = torch.ops.aten


def _solve(a: torch.Tensor, b: torch.Tensor, upper: bool) -> torch.Tensor:
    return aten.linalg_solve_triangular.default(a, b, upper=upper)


def cholesky_inverse(factor: torch.Tensor, upper: bool = False) -> torch.Tensor:
    """``aten::cholesky_inverse``: the inverse of the matrix whose factor is given."""
    identity = torch.eye(factor.shape[-1], dtype=factor.dtype, device=factor.device).expand(factor.shape)
    return cholesky_solve(identity, factor, upper)


def cholesky_solve(b: torch.Tensor, factor: torch.Tensor, upper: bool = False) -> torch.Tensor:
    """``aten::cholesky_solve``, ``aten::_cholesky_solve_helper``."""
    flipped = factor.mT.conj() if factor.is_complex() else factor.mT
    first, second = (flipped, factor) if upper else (factor, flipped)
    return _solve(second, _solve(first, b, False), True)


def triangular_solve(
    b: torch.Tensor, a: torch.Tensor, upper: bool = True, transpose: bool = False, unitriangular: bool = False
) -> tuple[torch.Tensor, torch.Tensor]:
    """``aten::triangular_solve`` -> solution, the matrix again."""
    shape = torch.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    whole = a.expand(*shape, *a.shape[-2:]).clone()
    b = b.expand(*shape, *b.shape[-2:])
    matrix = a.mT if transpose else a
    x = aten.linalg_solve_triangular.default(matrix, b, upper=upper != transpose, unitriangular=unitriangular)
    return x, whole


def lu_factor(a: torch.Tensor, *, pivot: bool = True) -> Any:
    """``aten::linalg_lu`` -> permutation matrix, lower and upper factor."""
    lu, pivots, _ = aten.linalg_lu_factor_ex.default(a, pivot=pivot)
    return aten.lu_unpack.default(lu, pivots, True, pivot)


LINALG: dict[str, Callable[..., Any]] = {
    "cholesky_inverse": cholesky_inverse,
    "cholesky_solve": cholesky_solve,
    "_cholesky_solve_helper": cholesky_solve,
    "triangular_solve": triangular_solve,
    "linalg_lu": lu_factor,
}
