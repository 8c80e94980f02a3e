"""Movement of elements: every op here is an expression of positions, and costs nothing where its reader takes it."""

# Signatures are ATen's, also where an argument does not matter here.
# ruff: noqa: ARG001

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from lazycore_plugin_api import DType, Node, TensorSpec

from lazycore_tvm.arrays import Array, remainder
from lazycore_tvm.loops import either
from lazycore_tvm.operands import axis, converted, number, zero
from lazycore_tvm.registry import ANY, Kind, lowering
from lazycore_tvm.scalars import Expr, select
from lazycore_tvm.sizes import extent, long
from lazycore_tvm.tvm_runtime import tvm

tir = tvm.tirx

_MOST_PIECES = 64


@lowering("clone", "alias", "lift_fresh_copy", kind=Kind.view, dtypes=ANY)
def same(x: Array) -> Array:
    """x itself: every output of a segment becomes a buffer of its own."""
    return x


@lowering("_to_copy", dtypes=ANY)
def cast(x: Array, *, dtype: DType | None = None) -> Array:
    """x in another dtype: rounded to even, integers wrapped, anything but 0 true."""
    return converted(x, dtype)


@lowering(
    "view", "squeeze", "squeeze.dim", "squeeze.dims", "unsqueeze", kind=Kind.view, dtypes=ANY, divides=True,
    needs_out=True,
)  # fmt: skip
def view(x: Array, *_: Any, out: list[TensorSpec]) -> Array:
    """Another shape of the same elements in row-major order."""
    return x.reshaped(out[0].shape)


@lowering("permute", kind=Kind.view, dtypes=ANY)
def permute(x: Array, dims: Sequence[int]) -> Array:
    """Dimensions in another order."""
    order = [axis(d, x.ndim) for d in dims]
    back = [order.index(d) for d in range(x.ndim)]
    return x.moved(tuple(x.shape[d] for d in order), lambda *i: x.at(*(i[b] for b in back)))


@lowering("expand", kind=Kind.view, dtypes=ANY, needs_out=True)
def expand(x: Array, sizes: Sequence[int], *, implicit: bool = False, out: list[TensorSpec]) -> Array:
    """Dimensions of size 1 repeated, new ones in front; -1 keeps a size."""
    shape = out[0].shape
    if shape == x.shape:
        return x

    def at(*i: Expr) -> Expr:
        own = i[len(i) - x.ndim :]
        return x.at(*(zero if n == 1 else p for p, n in zip(own, x.shape, strict=True)))

    return x.moved(shape, at)


def _inserted(i: Sequence[Any], where: int, index: Any) -> tuple[Any, ...]:
    return (*i[:where], index, *i[where:])


def replaced(i: Sequence[Any], where: int, index: Any) -> tuple[Any, ...]:
    """A position with one index exchanged."""
    return (*i[:where], index, *i[where + 1 :])


@lowering("select.int", kind=Kind.view, dtypes=ANY)
def select_slice(x: Array, dim: int, index: int) -> Array:
    """One slice; the dimension is gone."""
    where = axis(dim, x.ndim)
    place = extent(index if index >= 0 else x.shape[where] + index)
    return x.moved((*x.shape[:where], *x.shape[where + 1 :]), lambda *i: x.at(*_inserted(i, where, place)))


def begin(size: Any, start: Any) -> Any:
    """Where a slice that is not empty begins."""
    if not isinstance(start, int) or start >= 0:
        return start or 0
    return max(size + start, 0) if isinstance(size, int) else tir.max(size + start, 0)


@lowering("slice.Tensor", kind=Kind.view, dtypes=ANY, needs_out=True)
def slice_range(x: Array, dim: int, start: Any, end: Any, step: int, *, out: list[TensorSpec]) -> Array:
    """A range of slices."""
    where, shape = axis(dim, x.ndim), out[0].shape
    if shape == x.shape:
        return x
    first = begin(x.shape[where], start)
    return x.moved(shape, lambda *i: x.at(*replaced(i, where, i[where] * step + first)))


@lowering("flip", kind=Kind.view, dtypes=ANY)
def flip(x: Array, dims: Sequence[int]) -> Array:
    """The given dimensions backwards."""
    turned = {axis(d, x.ndim) for d in dims} if x.ndim else set()
    sizes = x.shape

    def at(*i: Expr) -> Expr:
        return x.at(*(n - 1 - p if d in turned else p for d, (p, n) in enumerate(zip(i, sizes, strict=True))))

    return x.moved(sizes, at)


@lowering("roll", kind=Kind.view, dtypes=ANY, divides=True)
def roll(x: Array, shifts: Sequence[int], dims: Sequence[int]) -> Array:
    """Elements moved in circles along dimensions, or in the flattened tensor where none is given."""
    if not dims:
        flat = x.reshaped((x.size,))
        return _rolled(flat, shifts[0], 0).reshaped(x.shape)
    for shift, dim in zip(shifts, dims, strict=True):
        x = _rolled(x, shift, axis(dim, x.ndim)) if x.ndim else x
    return x


def _rolled(x: Array, shift: int, where: int) -> Array:
    size = x.shape[where]
    back = -shift % size if isinstance(size, int) else tir.indexmod(tir.const(-shift, "int32"), size)

    def at(*i: Expr) -> Expr:
        index = i[where] + back
        return x.at(*replaced(i, where, select(index >= size, index - size, index)))

    return x.moved(x.shape, at)


@lowering("repeat", kind=Kind.view, dtypes=ANY, divides=True, needs_out=True)
def repeat(x: Array, repeats: Sequence[int], *, out: list[TensorSpec]) -> Array:
    """The whole tensor repeated along each dimension, new ones in front."""

    def at(*i: Expr) -> Expr:
        places = zip(i[len(i) - x.ndim :], x.shape, out[0].shape[len(i) - x.ndim :], strict=True)
        return x.at(*(zero if n == 1 else remainder(p, n, most) for p, n, most in places))

    return replace(x.moved(out[0].shape, at), divided=True)


def _too_many(node: Node) -> str | None:
    pieces = node.args[0]
    assert isinstance(pieces, tuple)
    return f"more than {_MOST_PIECES} pieces" if len(pieces) > _MOST_PIECES else None


def _piece(ends: Sequence[tuple[Array, int]], where: int, i: tuple[Expr, ...]) -> Expr:
    """The element of the first piece that ends behind the position."""
    piece, end = ends[0]
    own = lambda: piece.at(*replaced(i, where, i[where] - (end - piece.shape[where])))  # noqa: E731
    return own() if len(ends) == 1 else either(i[where] < end, own, lambda: _piece(ends[1:], where, i))


def _joined(pieces: Sequence[Array], where: int, shape: tuple[int, ...]) -> Array:
    """Pieces one behind the other along a dimension."""

    def at(*i: Expr) -> Expr:
        return _piece(list(zip(pieces, itertools.accumulate(p.shape[where] for p in pieces), strict=True)), where, i)

    cost = max(p.cost for p in pieces)
    return Array(shape, pieces[0].dtype, at, None, cost + 1)


@lowering("cat", dtypes=ANY, empty=True, check=_too_many, needs_out=True, divides=True)
def cat(tensors: Sequence[Array], dim: int = 0, *, out: list[TensorSpec]) -> Array:
    """Tensors joined along a dimension; empty ones are skipped."""
    shape = out[0].shape
    return _joined([t for t in tensors if t.size], axis(dim, len(shape)), shape)


@lowering("stack", dtypes=ANY, check=_too_many, needs_out=True, divides=True)
def stack(tensors: Sequence[Array], dim: int = 0, *, out: list[TensorSpec]) -> Array:
    """Tensors joined along a new dimension."""
    shape = out[0].shape
    where = axis(dim, len(shape))
    return _joined([t.reshaped(_inserted(t.shape, where, 1)) for t in tensors], where, shape)


@lowering("constant_pad_nd", dtypes=ANY, needs_out=True, divides=True)
def constant_pad(x: Array, widths: Sequence[int], value: Any, *, out: list[TensorSpec]) -> Array:
    """Padded with a number; widths are (before, after) from the last dimension on, negative ones cut off."""
    before = [0] * x.ndim
    for n, width in enumerate(widths[::2]):
        before[x.ndim - 1 - n] = width
    fill = number(value, x)

    def at(*i: Expr) -> Expr:
        own = [p - b for p, b in zip(i, before, strict=True)]
        inside = [tir.all(p >= 0, p < n) for p, n in zip(own, x.shape, strict=True)]
        return either(tir.all(*inside), lambda: x.at(*own), fill.at) if own else x.at()

    return Array(out[0].shape, x.dtype, at, None, x.cost + 1)


def _triangle(x: Array, kept: Any) -> Array:
    def at(*i: Expr) -> Expr:
        value, inside = x.at(*i), kept(i[-2], i[-1])
        return tir.all(inside, value) if x.dtype is DType.bool else select(inside, value, number(0, x).at())

    return Array(x.shape, x.dtype, at, None, x.cost + 1)


@lowering("tril", dtypes=ANY, divides=True)
def tril(x: Array, diagonal: int = 0) -> Array:
    """Matrices with zeros above a diagonal."""
    return _triangle(x, lambda row, column: column - row <= diagonal)


@lowering("triu", dtypes=ANY, divides=True)
def triu(x: Array, diagonal: int = 0) -> Array:
    """Matrices with zeros below a diagonal."""
    return _triangle(x, lambda row, column: column - row >= diagonal)


@lowering("diagonal", kind=Kind.view, dtypes=ANY, needs_out=True)
def diagonal(x: Array, offset: int = 0, first: int = 0, second: int = 1, *, out: list[TensorSpec]) -> Array:
    """A diagonal of two dimensions, as the last dimension."""
    one, two = axis(first, x.ndim), axis(second, x.ndim)

    def at(*i: Expr) -> Expr:
        rest = list(i[:-1])
        row, column = i[-1] + max(-offset, 0), i[-1] + max(offset, 0)
        for where, index in sorted(((one, row), (two, column)), key=lambda pair: pair[0]):
            rest.insert(where, index)
        return x.at(*rest)

    return x.moved(out[0].shape, at)


def start_of(start: Any, size: int, window: int) -> Expr:
    """Where a window begins: a number, or a 0-d array that is kept from reaching past the end."""
    if not isinstance(start, Array):
        return extent(start)
    place = tir.max(tir.min(start.at(), long(size - window)), tir.const(0, "int64"))
    return tir.Cast("int32", place)


@lowering("lazycore.dynamic_slice.default", kind=Kind.kernel, dtypes=ANY, rereads=True, divides=True)
def dynamic_slice(x: Array, starts: tuple[Any, ...], sizes: tuple[int, ...]) -> Array:
    """The part of x that starts at run-time positions and has known sizes."""

    def at(*i: Expr) -> Expr:
        rows = zip(i, starts, x.shape, sizes, strict=True)
        return x.at(*(p + start_of(s, n, window) for p, s, n, window in rows))

    return Array(tuple(sizes), x.dtype, at, None, x.cost + 1)


@lowering("lazycore.dynamic_update_slice.default", kind=Kind.kernel, dtypes=ANY, rereads=True, divides=True)
def dynamic_update_slice(x: Array, update: Array, starts: tuple[Any, ...]) -> Array:
    """x with the update written at run-time positions."""

    def at(*i: Expr) -> Expr:
        rows = zip(i, starts, x.shape, update.shape, strict=True)
        own = [p - start_of(s, n, window) for p, s, n, window in rows]
        inside = [tir.all(p >= 0, p < n) for p, n in zip(own, update.shape, strict=True)]
        return either(tir.all(*inside), lambda: update.at(*own), lambda: x.at(*i)) if own else update.at()

    return Array(x.shape, x.dtype, at, None, x.cost + update.cost + 1)


def _written(x: Array, source: Array, where: int, first: Any, step: int = 1) -> Array:
    """x with the slices from the first on, each ``step`` places behind the one before, replaced by the source's."""

    def at(*i: Expr) -> Expr:
        behind = i[where] - first
        hit = tir.all(behind >= 0, behind <= (source.shape[where] - 1) * step)
        if step != 1:
            hit = tir.all(hit, tir.EQ(tir.indexmod(behind, step), 0))
            behind = tir.indexdiv(behind, step)
        return either(hit, lambda: source.at(*replaced(i, where, behind)), lambda: x.at(*i))

    return Array(x.shape, x.dtype, at, None, x.cost + source.cost + 1) if source.shape[where] else x


@lowering("slice_scatter", dtypes=ANY, empty=True, divides=True)
def slice_scatter(
    x: Array, source: Array, dim: int = 0, start: int | None = None, end: int | None = None, step: int = 1
) -> Array:
    """x with a range of slices replaced."""
    where = axis(dim, x.ndim)
    return _written(x, source, where, begin(x.shape[where], start), step)


@lowering("select_scatter", dtypes=ANY, divides=True)
def select_scatter(x: Array, source: Array, dim: int, index: int) -> Array:
    """x with one slice replaced."""
    where = axis(dim, x.ndim)
    place = index if index >= 0 else x.shape[where] + index
    return _written(x, source.reshaped(_inserted(source.shape, where, 1)), where, place)


def zeros(shape: Sequence[int], like: Array) -> Array:
    """Zeros of the dtype of an array."""
    nothing = number(0, like)
    return Array(tuple(shape), like.dtype, lambda *_: nothing.at(), lambda _: nothing.at(), 1)


@lowering("select_backward", dtypes=ANY, divides=True)
def select_backward(grad: Array, sizes: Sequence[int], dim: int, index: int) -> Array:
    """Zeros with the gradient in one slice."""
    return select_scatter(zeros(sizes, grad), grad, dim, index)


@lowering("slice_backward", dtypes=ANY, empty=True, divides=True)
def slice_backward(grad: Array, sizes: Sequence[int], dim: int, start: int, end: int, step: int) -> Array:
    """Zeros with the gradient in a range of slices."""
    return slice_scatter(zeros(sizes, grad), grad, dim, start, end, step)
