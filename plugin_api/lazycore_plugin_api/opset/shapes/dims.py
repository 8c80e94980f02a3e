"""What the shape functions share: dimensions, broadcasting, lists that one number stands for."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeAlias

from lazycore_plugin_api.opset.rule import Sizes, Unfit

__all__ = ["Shapes", "broadcast_sizes", "repeated", "wrap", "wrap_all"]

Shapes: TypeAlias = tuple[Sizes | None, ...]


def wrap(dim: int, rank: int) -> int:
    """A dimension counted from the front; 0-d tensors have dimensions 0 and -1. Raises Unfit out of range."""
    size = rank or 1
    if not -size <= dim < size:
        raise Unfit(f"has dimension {dim} for an operand of rank {rank}")
    return dim % size


def wrap_all(dims: int | Sequence[int] | None, rank: int) -> set[int]:
    """The dimensions of a list, counted from the front. Raises Unfit out of range, and for one that is there twice."""
    if dims is None:
        return set()
    listed = [wrap(d, rank) for d in ((dims,) if isinstance(dims, int) else dims)]
    if len(set(listed)) != len(listed):
        raise Unfit(f"has the dimensions {dims}, one of them twice")
    return set(listed)


def broadcast_sizes(shapes: Iterable[Sizes]) -> Sizes:
    """The common shape. Raises Unfit where there is none."""
    result: Sizes = ()
    for shape in shapes:
        if shape != result:
            result = _pair(result, shape) if result and shape else result or shape
    return result


def _pair(a: Sizes, b: Sizes) -> Sizes:
    rank = max(len(a), len(b))
    left, right = (1,) * (rank - len(a)) + a, (1,) * (rank - len(b)) + b
    for x, y in zip(left, right, strict=True):
        if x != y and x != 1 and y != 1:
            raise Unfit(f"has operands of shapes {list(a)} and {list(b)}, which do not broadcast")
    return tuple(y if x == 1 else x for x, y in zip(left, right, strict=True))


def repeated(numbers: int | Sequence[int], count: int) -> tuple[int, ...]:
    """One number per spatial dimension, of a list that has one or all. Raises Unfit for another count."""
    listed = (numbers,) if isinstance(numbers, int) else tuple(numbers)
    if len(listed) not in (1, count):
        raise Unfit(f"has {len(listed)} numbers {listed} for {count} dimensions")
    return listed if len(listed) == count else listed * count
