"""Ops that may choose among equal elements: their index results are compared by what they select.

CPU kernels sort with vector instructions whose order of equals differs from machine to machine; torch promises an
order only where ``stable=True`` is asked for.
"""

from __future__ import annotations

from typing import Any

import torch

__all__ = ["FREE_VECTORS", "resolve"]

# Their vectors are unique up to a factor of size 1, which LAPACK's builds choose differently: what the database feeds
# to gradient checks is free of it, and that is what is compared.
FREE_VECTORS = frozenset(("linalg.eig", "linalg.eigh", "linalg.svd", "svd", "svd_lowrank", "pca_lowrank"))

# Op -> the position of ``dim`` among the arguments after the input.
_DIM = {"topk": 1, "sort": 0, "argsort": 0, "kthvalue": 1, "median": 0, "nanmedian": 0, "mode": 0}


def resolve(op: str, given: tuple[Any, tuple[Any, ...], dict[str, Any]], results: Any) -> Any:
    """The results with indices replaced by the elements they name, on the CPU, where the op leaves their order open.

    Raises ValueError where an index occurs twice along its dimension.
    """
    source, args, kwargs = given
    if op not in _DIM or kwargs.get("stable"):
        return results
    dim = kwargs.get("dim", args[_DIM[op]] if len(args) > _DIM[op] else -1)
    if op == "argsort":
        return _selected(source, results, dim)
    if isinstance(results, torch.Tensor):
        return results
    return results[0], _selected(source, results[1], dim)


def _selected(source: torch.Tensor, index: torch.Tensor, dim: int) -> torch.Tensor:
    source, index = source.detach().cpu(), index.detach().cpu()
    if not index.numel() or not source.dim():
        return index
    if index.dim() < source.dim():
        index = index.unsqueeze(dim)
    if (index.sort(dim).values.diff(dim=dim) == 0).any():
        raise ValueError("an index occurs twice")
    return source.take_along_dim(index, dim)
