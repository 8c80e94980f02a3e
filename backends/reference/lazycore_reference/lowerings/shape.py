"""Movement of elements. Nothing here copies unless it must: the executable copies at the segment's boundary."""

# Signatures are ATen's, also where an argument does not matter here.
# ruff: noqa: ARG001
# To mypy, arithmetic on arrays of any dtype is Any.
# mypy: disable-error-code="no-any-return"

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from lazycore_plugin_api import DType

from lazycore_reference.axes import axis
from lazycore_reference.lowerings.binary import number
from lazycore_reference.lowerings.scatter import region
from lazycore_reference.registry import Array, lowering


@lowering("aten.clone.default", "aten.alias.default", "aten.lift_fresh_copy.default", raw=True)
def same(x: Array) -> Array:
    """x itself: every output of a segment becomes a buffer of its own."""
    return x


@lowering("aten._to_copy.default", raw=True)
def cast(x: Array, *, dtype: DType | None = None) -> Array:
    """x in another dtype: rounded to even, integers wrapped, anything but 0 true; an imaginary part is dropped."""
    if dtype is not None and x.dtype.kind == "c" and not dtype.is_complex and dtype is not DType.bool:
        x = x.real
    return x if dtype is None else x.astype(dtype.numpy)


@lowering("aten.view.dtype", raw=True)
def bitcast(x: Array, dtype: DType) -> Array:
    """The same bits read as another dtype; the last dimension shrinks or grows with the element's size."""
    return np.ascontiguousarray(x).reshape(x.shape).view(dtype.numpy)


@lowering("aten.view.default", raw=True)
def view(x: Array, sizes: Sequence[int]) -> Array:
    """Another shape of the same elements in row-major order; one size may be -1."""
    return x.reshape(tuple(sizes))


@lowering("aten.permute.default", raw=True)
def permute(x: Array, dims: Sequence[int]) -> Array:
    """Dimensions in another order."""
    return x.transpose(tuple(dims))


@lowering("aten.expand.default", raw=True)
def expand(x: Array, sizes: Sequence[int], *, implicit: bool = False) -> Array:
    """Dimensions of size 1 repeated, new ones in front; -1 keeps a size."""
    own = (1,) * (len(sizes) - x.ndim) + x.shape
    return np.broadcast_to(x, tuple(n if s == -1 else s for s, n in zip(sizes, own, strict=True)))


@lowering("aten.select.int", raw=True)
def select(x: Array, dim: int, index: int) -> Array:
    """One slice; the dimension is gone."""
    return np.asarray(x[region(x.ndim, dim, index)])


@lowering("aten.slice.Tensor", raw=True)
def slice_range(x: Array, dim: int, start: int | None, end: int | None, step: int) -> Array:
    """A range of slices; bounds past the end are cut off."""
    return x[region(x.ndim, dim, slice(start, end, step))]


@lowering("aten.squeeze.default", raw=True)
def squeeze(x: Array) -> Array:
    """Without the dimensions of size 1."""
    return x.squeeze()


@lowering("aten.squeeze.dim", "aten.squeeze.dims", raw=True)
def squeeze_dims(x: Array, dims: int | Sequence[int]) -> Array:
    """Without those of the given dimensions that have size 1."""
    given = (dims,) if isinstance(dims, int) else dims
    gone = {axis(d, x.ndim) for d in given}
    return x.reshape(tuple(n for i, n in enumerate(x.shape) if n != 1 or i not in gone))


@lowering("aten.unsqueeze.default", raw=True)
def unsqueeze(x: Array, dim: int) -> Array:
    """A new dimension of size 1."""
    return np.expand_dims(x, dim)


@lowering("aten.flip.default", raw=True)
def flip(x: Array, dims: Sequence[int]) -> Array:
    """The given dimensions backwards; a 0-d tensor takes 0 and -1, as if it had one."""
    return np.flip(x, tuple(dims)) if x.ndim else x


@lowering("aten.roll.default", raw=True)
def roll(x: Array, shifts: Sequence[int], dims: Sequence[int]) -> Array:
    """Elements moved in circles along dimensions, or in the flattened tensor where none is given."""
    return np.roll(x, tuple(shifts), tuple(dims)) if dims else np.roll(x, shifts[0])


@lowering("aten.repeat.default", raw=True)
def repeat(x: Array, repeats: Sequence[int]) -> Array:
    """The whole tensor repeated along each dimension, new ones in front."""
    return np.tile(x, tuple(repeats))


@lowering("aten.cat.default", raw=True)
def cat(tensors: Sequence[Array], dim: int = 0) -> Array:
    """Tensors joined along a dimension; empty 1-d ones are skipped."""
    joined = [t for t in tensors if t.shape != (0,)] or list(tensors[:1])
    return np.concatenate(joined, axis=axis(dim, joined[0].ndim))


@lowering("aten.stack.default", raw=True)
def stack(tensors: Sequence[Array], dim: int = 0) -> Array:
    """Tensors joined along a new dimension."""
    return np.stack(tensors, axis=dim)


@lowering("aten.constant_pad_nd.default", raw=True)
def constant_pad(x: Array, widths: Sequence[int], value: Any) -> Array:
    """Padded with a number; widths are (before, after) from the last dimension on, negative ones cut off."""
    pairs = [(0, 0)] * (x.ndim - len(widths) // 2)
    pairs += [(widths[i], widths[i + 1]) for i in range(len(widths) - 2, -1, -2)]
    kept = tuple(slice(max(-b, 0), n - max(-a, 0)) for n, (b, a) in zip(x.shape, pairs, strict=True))
    grown = [(max(b, 0), max(a, 0)) for b, a in pairs]
    return np.pad(x[kept], grown, constant_values=number(value, x))


@lowering("aten.tril.default", raw=True)
def tril(x: Array, diagonal: int = 0) -> Array:
    """Matrices with zeros above a diagonal."""
    return np.tril(x, diagonal)


@lowering("aten.triu.default", raw=True)
def triu(x: Array, diagonal: int = 0) -> Array:
    """Matrices with zeros below a diagonal."""
    return np.triu(x, diagonal)


@lowering("aten.diagonal.default", raw=True)
def diagonal(x: Array, offset: int = 0, first: int = 0, second: int = 1) -> Array:
    """A diagonal of two dimensions, as the last dimension."""
    return np.diagonal(x, offset, first, second)
