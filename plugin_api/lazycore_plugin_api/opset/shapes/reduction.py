"""Reductions, scans, sorts."""

from __future__ import annotations

from collections.abc import Sequence

from lazycore_plugin_api.opset.rule import Call, Sizes, Unfit, rule
from lazycore_plugin_api.opset.shapes.dims import Shapes, wrap, wrap_all

__all__ = ["distributed", "listed_reduced", "reduced", "selected", "sought", "to_scalar"]


def _reduce(shape: Sizes, dims: set[int], keepdim: bool) -> Sizes:
    if keepdim:
        return tuple(1 if i in dims else size for i, size in enumerate(shape))
    return tuple(size for i, size in enumerate(shape) if i not in dims)


def _dims(given: int | Sequence[int] | None, rank: int) -> set[int]:
    """None and an empty list are all dimensions."""
    return set(range(rank)) if given is None or given == () else wrap_all(given, rank)


@rule
def reduced(call: Call, outputs: int = 1) -> Shapes:
    """``self`` without the dimensions ``dim`` (none given: all), or with size 1 there under ``keepdim``."""
    shape = call.shape("self")
    keepdim = bool(call.given.get("keepdim", False))
    return (_reduce(shape, _dims(call["dim"], len(shape)), keepdim),) * outputs


@rule
def listed_reduced(call: Call) -> Shapes:
    """``reduced``, but an empty list of dimensions is none of them."""
    shape, dim = call.shape("self"), call["dim"]
    dims = set(range(len(shape))) if dim is None else wrap_all(dim, len(shape))
    return (_reduce(shape, dims, call["keepdim"]),)


@rule
def to_scalar(call: Call, outputs: int = 1) -> Shapes:  # noqa: ARG001
    """0-d."""
    return ((),) * outputs


@rule
def selected(call: Call) -> Shapes:
    """Values and indices of the ``k`` first along ``dim``."""
    shape, k = call.shape("self"), call["k"]
    dim = wrap(call["dim"], len(shape))
    if not 0 <= k <= (shape[dim] if shape else 1):
        raise Unfit(f"selects {k} of {list(shape)} along dimension {dim}")
    result = (*shape[:dim], k, *shape[dim + 1 :]) if shape else ()
    return result, result


@rule
def distributed(call: Call, of: str) -> Shapes:
    """The shape of an operand that is sought in sorted sequences; 0-d where it is a number."""
    value = next(call.values(of), None)
    return (() if value is None else call.shape(of),)


@rule
def sought(call: Call) -> Shapes:
    """``nonzero_static``: one row of coordinates for each of ``size`` places."""
    return ((call["size"], len(call.shape("self"))),)
