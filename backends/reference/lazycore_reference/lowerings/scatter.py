"""Writing through indices, as values: the operand is copied first. And the gradients of reads."""

# To mypy, arithmetic on arrays of any dtype is Any.
# mypy: disable-error-code="no-any-return"

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from lazycore_reference.axes import axis, line, trailing
from lazycore_reference.lowerings.binary import number
from lazycore_reference.lowerings.indexing import Indices, advanced, grid, no_mask
from lazycore_reference.registry import Array, lowering


def _part(source: Array, index: Array) -> Array:
    """The source's elements that the index addresses; it may be larger than the index."""
    return line(source)[tuple(slice(n) for n in line(index).shape)]


def _written(x: Array, dim: int, index: Array, values: Any) -> Array:
    result = line(x).copy()
    if index.size:  # an empty index may have any number of dimensions
        result[grid(line(index), dim)] = values
    return result.reshape(x.shape)


@lowering("aten.scatter.src", raw=True)
def scatter(x: Array, dim: int, index: Array, source: Array) -> Array:
    """x with the source's elements written at the index along a dimension."""
    return _written(x, dim, index, _part(source, index))


@lowering("aten.scatter.value", raw=True)
def scatter_value(x: Array, dim: int, index: Array, value: Any) -> Array:
    """x with a number written at the index along a dimension."""
    return _written(x, dim, index, number(value, x))


@lowering("aten.scatter_add.default")
def scatter_add(x: Array, dim: int, index: Array, source: Array) -> Array:
    """x with the source's elements added at the index along a dimension."""
    result = line(x).copy()
    if index.size:
        np.add.at(result, grid(line(index), dim), _part(source, index))
    return result.reshape(x.shape)


_COMBINE: dict[str, Any] = {
    "sum": np.add,
    "mean": np.add,
    "prod": np.multiply,
    "amax": np.maximum,
    "amin": np.minimum,
}


def _neutral(how: str, dtype: np.dtype[Any]) -> Any:
    """The value that leaves any other unchanged."""
    if how in ("sum", "mean", "prod"):
        return int(how == "prod")
    if dtype.kind == "b":
        return how == "amin"
    limits: Any = np.iinfo(dtype) if dtype.kind in "iu" else None
    low, high = (limits.min, limits.max) if limits else (-np.inf, np.inf)
    return low if how == "amax" else high


@lowering("aten.scatter_reduce.two")
def scatter_reduce(x: Array, dim: int, index: Array, source: Array, how: str, *, include_self: bool = True) -> Array:
    """x combined with the source's elements at the index; without ``include_self``, x only where there are none."""
    if not index.size:
        return x
    result, places = line(x).copy(), grid(line(index), dim)
    if not include_self:
        result[places] = _neutral(how, result.dtype)
    _COMBINE[how].at(result, places, _part(source, index))
    if how == "mean":
        result = _averaged(result, places, include_self)
    return result.reshape(x.shape)


def _averaged(sums: Array, places: tuple[Array, ...], include_self: bool) -> Array:
    counts = np.full(sums.shape, int(include_self))
    np.add.at(counts, places, 1)
    divisor = np.maximum(counts, 1).astype(sums.dtype)
    return np.floor_divide(sums, divisor) if sums.dtype.kind in "iu" else sums / divisor


@lowering("aten.index_put.default", objection=no_mask)
def index_put(x: Array, indices: Indices, values: Array, accumulate: bool) -> Array:
    """x with values, which broadcast, written or added where advanced indexing would read."""
    result = x.copy()
    if accumulate:
        np.add.at(result, advanced(indices), values)
    else:
        result[advanced(indices)] = values
    return result


def _lead(x: Array, dim: int) -> Array:
    """A view with the dimension moved to the front."""
    return np.moveaxis(line(x), axis(dim, x.ndim), 0)


@lowering("aten.index_add.default")
def index_add(x: Array, dim: int, index: Array, source: Array, *, alpha: Any = 1) -> Array:
    """x with alpha times the source's slices added at the index."""
    result = line(x).copy()
    np.add.at(_lead(result, dim), line(index), _lead(source * number(alpha, source), dim))
    return result.reshape(x.shape)


@lowering("aten.index_copy.default", raw=True)
def index_copy(x: Array, dim: int, index: Array, source: Array) -> Array:
    """x with the source's slices written at the index."""
    result = line(x).copy()
    _lead(result, dim)[line(index)] = _lead(source, dim)
    return result.reshape(x.shape)


@lowering("aten.index_fill.int_Scalar", raw=True)
def index_fill(x: Array, dim: int, index: Array, value: Any) -> Array:
    """x with whole slices filled with a number."""
    result = line(x).copy()
    _lead(result, dim)[line(index)] = number(value, x)
    return result.reshape(x.shape)


@lowering("aten.put.default")
def put(x: Array, index: Array, source: Array, accumulate: bool) -> Array:
    """x with the source written or added at positions of the flattened tensor."""
    result = x.reshape(-1).copy()
    if accumulate:
        np.add.at(result, index.reshape(-1), source.reshape(-1))
    else:
        result[index.reshape(-1)] = source.reshape(-1)
    return result.reshape(x.shape)


@lowering("aten.embedding_dense_backward.default")
def embedding_backward(grad: Array, index: Array, rows: int, padding: int, by_frequency: bool) -> Array:
    """The gradient summed into the rows that were read, except the padding row; optionally a mean."""
    width, flat = grad.shape[-1], index.reshape(-1)
    values = grad.reshape(flat.size, width)
    if by_frequency:
        values = values / np.bincount(flat, minlength=rows)[flat].astype(grad.dtype)[:, None]
    result = np.zeros((rows, width), grad.dtype)
    kept = flat != padding
    np.add.at(result, flat[kept], values[kept])
    return result


def region(ndim: int, dim: int, place: Any) -> tuple[Any, ...]:
    """An index that is ``place`` in one dimension and everything in the others."""
    return (*(slice(None),) * axis(dim, ndim), place, ...)


def _filled(x: Array, place: tuple[Any, ...], values: Array) -> Array:
    result = x.copy()
    result[place] = values
    return result


@lowering("aten.select_scatter.default", raw=True)
def select_scatter(x: Array, source: Array, dim: int, index: int) -> Array:
    """x with one slice replaced."""
    return _filled(x, region(x.ndim, dim, index), source)


@lowering("aten.slice_scatter.default", raw=True)
def slice_scatter(x: Array, source: Array, dim: int, start: int | None, end: int | None, step: int) -> Array:
    """x with a range of slices replaced."""
    return _filled(x, region(x.ndim, dim, slice(start, end, step)), source)


@lowering("lazycore.dynamic_update_slice.default", raw=True)
def dynamic_update_slice(x: Array, update: Array, starts: tuple[Any, ...]) -> Array:
    """x with the update written at run-time positions."""
    place = trailing(slice(int(s), int(s) + n) for s, n in zip(starts, update.shape, strict=True))
    return _filled(x, place, update)


@lowering("aten.select_backward.default", raw=True)
def select_backward(grad: Array, sizes: Sequence[int], dim: int, index: int) -> Array:
    """Zeros with the gradient in one slice."""
    return select_scatter(np.zeros(sizes, grad.dtype), grad, dim, index)


@lowering("aten.slice_backward.default", raw=True)
def slice_backward(grad: Array, sizes: Sequence[int], dim: int, start: int, end: int, step: int) -> Array:
    """Zeros with the gradient in a range of slices."""
    return slice_scatter(np.zeros(sizes, grad.dtype), grad, dim, start, end, step)


@lowering("aten.diagonal_backward.default", raw=True)
def diagonal_backward(grad: Array, sizes: Sequence[int], offset: int, first: int, second: int) -> Array:
    """Zeros with the gradient on a diagonal."""
    result = np.zeros(sizes, grad.dtype)
    matrices = np.moveaxis(result, (first, second), (-2, -1))
    steps = np.arange(grad.shape[-1])
    matrices[..., steps + max(-offset, 0), steps + max(offset, 0)] = grad
    return result


@lowering("aten.unfold_backward.default")
def unfold_backward(grad: Array, sizes: Sequence[int], dim: int, size: int, step: int) -> Array:
    """The windows' gradients, whose last dimension runs inside a window, added up where they overlap."""
    result = np.zeros(tuple(sizes) or (1,), grad.dtype)
    grad = grad if sizes else grad.reshape(1, size)
    where = axis(dim, len(sizes))
    for offset in range(size):
        reach = (grad.shape[where] - 1) * step + 1
        result[region(result.ndim, where, slice(offset, offset + reach, step))] += grad[..., offset]
    return result.reshape(sizes)
