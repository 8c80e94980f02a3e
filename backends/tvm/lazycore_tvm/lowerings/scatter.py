"""Writing through indices, by NumPy: several writes may meet in one place, which no parallel form of TE can say; and
NumPy raises IndexError where a store out of range would end the process."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from lazycore_plugin_api import HostArray

from lazycore_tvm.lowerings.host_numbers import number
from lazycore_tvm.lowerings.indexing import no_mask
from lazycore_tvm.operands import axis
from lazycore_tvm.registry import ANY, BOOL, REAL, Kind, lowering

__all__ = ["lead", "line", "part", "places_of"]

Indices: TypeAlias = "tuple[HostArray | None, ...]"
_MOVED: dict[str, Any] = {"kind": Kind.host, "dtypes": ANY, "raw": True}
_ADDED: dict[str, Any] = {"kind": Kind.host, "dtypes": REAL}


def line(x: HostArray) -> HostArray:
    """x itself, of a 0-d array its one element as a line."""
    return x.reshape(1) if x.ndim == 0 else x


def places_of(index: HostArray, dim: int) -> tuple[HostArray, ...]:
    """What addresses, for each position of the index, that position with ``dim`` exchanged for the index."""
    grid = list(np.ogrid[tuple(slice(n) for n in index.shape)])
    grid[axis(dim, index.ndim)] = index
    return tuple(grid)


def part(source: HostArray, index: HostArray) -> HostArray:
    """The source's elements that the index addresses; it may be larger than the index."""
    return line(source)[tuple(slice(n) for n in line(index).shape)]


def _written(x: HostArray, dim: int, index: HostArray, values: Any) -> HostArray:
    result = line(x).copy()
    if index.size:  # an empty index may have any number of dimensions
        result[places_of(line(index), dim)] = values
    return result.reshape(x.shape)


@lowering("scatter.src", **_MOVED)
def scatter(x: HostArray, dim: int, index: HostArray, source: HostArray) -> HostArray:
    """x with the source's elements written at the index along a dimension."""
    return _written(x, dim, index, part(source, index) if index.size else None)


@lowering("scatter.value", **_MOVED)
def scatter_value(x: HostArray, dim: int, index: HostArray, value: Any) -> HostArray:
    """x with a number written at the index along a dimension."""
    return _written(x, dim, index, number(value, x))


@lowering("scatter_add", **_ADDED)
def scatter_add(x: HostArray, dim: int, index: HostArray, source: HostArray) -> HostArray:
    """x with the source's elements added at the index along a dimension."""
    result = line(x).copy()
    if index.size:
        np.add.at(result, places_of(line(index), dim), part(source, index))
    return result.reshape(x.shape)


def _key(indices: Indices) -> tuple[Any, ...]:
    """ATen's optional index tensors as NumPy's: None takes a whole dimension."""
    return tuple(slice(None) if i is None else i for i in indices)


@lowering("index_put", check=no_mask, **_ADDED)
def index_put(x: HostArray, indices: Indices, values: HostArray, accumulate: bool) -> HostArray:
    """x with values, which broadcast, written or added where advanced indexing would read."""
    result = x.copy()
    if accumulate:
        np.add.at(result, _key(indices), values)
    else:
        result[_key(indices)] = values
    return result


def lead(x: HostArray, dim: int) -> HostArray:
    """A view with the dimension moved to the front."""
    return np.moveaxis(line(x), axis(dim, x.ndim), 0)


@lowering("index_add", **_ADDED)
def index_add(x: HostArray, dim: int, index: HostArray, source: HostArray, *, alpha: Any = 1) -> HostArray:
    """x with alpha times the source's slices added at the index."""
    result = line(x).copy()
    np.add.at(lead(result, dim), line(index), lead(source * number(alpha, source), dim))
    return result.reshape(x.shape)


@lowering("index_copy", **_MOVED)
def index_copy(x: HostArray, dim: int, index: HostArray, source: HostArray) -> HostArray:
    """x with the source's slices written at the index."""
    result = line(x).copy()
    lead(result, dim)[line(index)] = lead(source, dim)
    return result.reshape(x.shape)


@lowering("index_fill.int_Scalar", **_MOVED)
def index_fill(x: HostArray, dim: int, index: HostArray, value: Any) -> HostArray:
    """x with whole slices filled with a number."""
    result = line(x).copy()
    lead(result, dim)[line(index)] = number(value, x)
    return result.reshape(x.shape)


@lowering("put", **_ADDED)
def put(x: HostArray, index: HostArray, source: HostArray, accumulate: bool) -> HostArray:
    """x with the source written or added at positions of the flattened tensor."""
    result = x.reshape(-1).copy()
    if accumulate:
        np.add.at(result, index.reshape(-1), source.reshape(-1))
    else:
        result[index.reshape(-1)] = source.reshape(-1)
    return result.reshape(x.shape)


@lowering("embedding_dense_backward", kind=Kind.host, dtypes=REAL - BOOL)
def embedding_backward(grad: HostArray, index: HostArray, rows: int, padding: int, by_frequency: bool) -> HostArray:
    """The gradient summed into the rows that were read, except the padding row; optionally a mean."""
    width, flat = grad.shape[-1], index.reshape(-1)
    values = grad.reshape(flat.size, width)
    if by_frequency:
        values = values / np.bincount(flat, minlength=rows)[flat].astype(grad.dtype)[:, None]
    result = np.zeros((rows, width), grad.dtype)
    kept = flat != padding
    np.add.at(result, flat[kept], values[kept])
    return result
