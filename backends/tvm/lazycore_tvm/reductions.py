"""Reductions of arrays inside of a kernel. Sums of floats run in double precision: a plain loop in single precision
loses what the CPU's pairwise sums keep, and takes as long."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from lazycore_plugin_api import DType

from lazycore_tvm.arrays import Array, elementwise, ravel, widened
from lazycore_tvm.loops import kernel, named
from lazycore_tvm.operands import count, less
from lazycore_tvm.operands import zero as _zero
from lazycore_tvm.scalars import Expr, cast, compute_type, is_nan, like, literal, select, sub, type_of
from lazycore_tvm.threads import count as threads
from lazycore_tvm.threads import is_wide
from lazycore_tvm.tvm_runtime import tvm

__all__ = [
    "MAXIMUM",
    "MINIMUM",
    "Reducer",
    "extreme",
    "in_order",
    "kept",
    "mean",
    "moments",
    "product",
    "reduced",
    "total",
]

tir = tvm.tirx

# How many terms of a row are combined side by side, by its length: as many as hide how long one addition takes.
_WIDE, _NARROW, _LONG = 64, 16, 256
# Fewer are combined as single numbers.
_LAST = 8
# So many single-precision terms of a lane are added before they are rounded to nothing by what is there.
_RUN = 16
# So many rows of a large array are combined before they are added to what there is of each column.
_ROWS = 4
# Into so many pieces a row is cut that several threads share.
_PIECES = 32


@dataclass(frozen=True)
class Reducer:
    """``combine`` of what there is and a new term, in any order; ``identity``: what a type's terms start from."""

    combine: Callable[[Expr, Expr], Expr]
    identity: Callable[[str], Expr]


@dataclass(frozen=True, eq=False)
class _Reduction:
    """A stage: the terms of x combined over axes. ``kind``: what they are combined in; short runs of a long row may be
    in the terms' own type."""

    x: Array
    axes: tuple[int, ...]
    reducer: Reducer
    kind: str
    term: Callable[..., Expr]
    partial: str

    @property
    def others(self) -> tuple[int, ...]:
        """The dimensions that stay."""
        return tuple(d for d in range(self.x.ndim) if d not in self.axes and self.x.shape[d] != 1)

    @property
    def sizes(self) -> tuple[int, ...]:
        """Of the dimensions that stay."""
        return tuple(self.x.shape[d] for d in self.others)

    @property
    def deepest(self) -> int:
        """Dimensions behind the last of the axes are inside of the axes' loops: memory is read in its order."""
        return sum(d < max(self.axes) for d in self.others)

    def write(self, rows: Sequence[Expr], target: Any) -> None:
        """Fill the buffer with the reductions of the rows."""
        outer = tuple(d for d in self.others[len(rows) :] if d < max(self.axes))
        inner = tuple(d for d in self.others if d > max(self.axes))
        write = self._columns if inner else self._rows

        def each(*places: Expr) -> None:
            write(dict(zip(self.others, (*rows, *places), strict=False)), ravel(places, self._lengths(outer)), target)

        kernel().loops(self._lengths(outer), each, level=True, parallel=True)

    def _lengths(self, dims: Sequence[int]) -> tuple[int, ...]:
        return tuple(self.x.shape[d] for d in dims)

    def _term(self, places: dict[int, Expr]) -> Expr:
        full = [places.get(d, _zero) for d in range(self.x.ndim)]
        return named(self.term(named(self.x.at(*full)), *(full[a] for a in self.axes)))

    def _accumulate(self, target: Any, place: Expr, term: Expr) -> None:
        old = named(tir.BufferLoad(target, [place]))
        same = term if type_of(term) == type_of(old) else named(tir.Cast(type_of(old), term))
        kernel().write(target, place, self.reducer.combine(old, same))

    def _fill(self, target: Any, start: Expr, size: int) -> None:
        identity = self.reducer.identity(str(target.dtype))
        kernel().loop(size, lambda i: kernel().write(target, start + i, identity))

    def _columns(self, places: dict[int, Expr], start: Expr, target: Any) -> None:
        """Row by row, all columns at once; of a large array each thread has columns of its own."""
        inner = tuple(d for d in self.others if d > max(self.axes))
        first, *rest = self._lengths(inner)
        width = math.prod(rest)
        start = start * (first * width)
        parts = min(threads(), first) if is_wide(self.x.size) and not kernel().is_shared else 1
        if parts == 1:
            self._add_columns(places, inner, (_zero, first), start, target)
            return
        most = -(-first // parts)

        def part(number: Expr) -> None:
            begin = named(number * most)
            size = most if first % most == 0 else named(tir.min(tir.const(most, "int32"), first - begin))
            own = kernel().array(most * width, self.kind)
            self._add_columns(places, inner, (begin, size), _zero, own)
            place = start + begin * width
            kernel().loop(size * width, lambda i: kernel().write(target, place + i, tir.BufferLoad(own, [i])))

        kernel().loop(-(-first // most), part, parallel=True)

    def _add_columns(
        self, places: dict[int, Expr], inner: tuple[int, ...], which: tuple[Any, Any], start: Expr, target: Any
    ) -> None:
        """Of the first of the inner dimensions so many from a place on."""
        (begin, size), sizes = which, self._lengths(inner)
        self._fill(target, start, size * math.prod(sizes[1:]))
        *outer, last = self.axes
        rows = self.x.shape[last]
        runs = rows // _ROWS if self.partial != self.kind and is_wide(self.x.size) else 0

        def add(first: Callable[[Expr], Expr], count: int) -> Callable[..., None]:
            def step(*steps: Expr) -> None:
                (*before, row), (column, *rest) = steps[: len(self.axes)], steps[len(self.axes) :]
                own = {**places, **dict(zip((*outer, *inner), (*before, begin + column, *rest), strict=True))}
                terms = [self._term({**own, last: first(row) + n}) for n in range(count)]
                self._accumulate(target, start + ravel((column, *rest), sizes), self._halved(terms))

            return step

        lengths = self._lengths(outer), (size, *sizes[1:])
        kernel().loops((*lengths[0], runs, *lengths[1]), add(lambda run: run * _ROWS, _ROWS))
        done = runs * _ROWS
        kernel().loops((*lengths[0], rows - done, *lengths[1]), add(lambda row: row + done, 1))

    def _rows(self, places: dict[int, Expr], start: Expr, target: Any) -> None:
        """Term by term of one row: in lanes, which vectorize, where it is long."""
        *outer, last = self.axes
        if isinstance(size := self.x.shape[last], int) and size < 2 * _NARROW:
            self._fill(target, start, 1)
            one = lambda *s: self._accumulate(target, start, self._term({**places, **self._at(s)}))  # noqa: E731
            kernel().loops(self._lengths(self.axes), one)
            return
        if not self.others and not outer and is_wide(size) and not kernel().is_shared:
            kernel().write(target, start, self._pieces(size))
        else:
            kernel().write(target, start, self._row_of(places, outer, (_zero, size)))

    def _pieces(self, size: int) -> Expr:
        """One long row in pieces, as many however many threads there are, so that sums do not depend on that."""
        step = self._lanes * _RUN
        piece = size // _PIECES // step * step
        parts = kernel().array(_PIECES, self.kind)
        write = lambda n: kernel().write(parts, n, self._row_of({}, (), (named(n * piece), piece)))  # noqa: E731
        kernel().loop(_PIECES, write, parallel=True)
        done = _PIECES * piece
        rest = [self._row_of({}, (), (tir.const(done, "int32"), size - done))] if size > done else []
        return self._halved([*(named(tir.BufferLoad(parts, [n])) for n in range(_PIECES)), *rest])

    def _row_of(self, places: dict[int, Expr], outer: Sequence[int], part: tuple[Expr, Any]) -> Expr:
        """The rows of the last axis from a place on, so many terms of each, combined."""
        half = self._lanes
        lanes = kernel().array(half, self.kind)
        self._fill(lanes, _zero, half)

        def row(*steps: Expr) -> None:
            self._row({**places, **dict(zip(outer, steps, strict=True))}, lanes, part)

        kernel().loops(self._lengths(outer), row)
        while half > _LAST:
            half //= 2
            kernel().loop(half, lambda i, h=half: self._accumulate(lanes, i, named(tir.BufferLoad(lanes, [i + h]))))
        return self._halved([named(tir.BufferLoad(lanes, [i])) for i in range(half)])

    def _halved(self, terms: Sequence[Expr]) -> Expr:
        """The terms combined in pairs, and those again."""
        half = len(terms) // 2
        if not half:
            return terms[0]
        pairs = zip(terms[:half], terms[half : 2 * half], strict=True)
        rest = terms[2 * half :]
        return self._halved([*(named(self.reducer.combine(one, other)) for one, other in pairs), *rest])

    def _row(self, places: dict[int, Expr], lanes: Any, part: tuple[Expr, Any]) -> None:
        last = self.axes[-1]
        n, (begin, size) = self._lanes, part
        blocks, done, rest = _whole_lanes(size, n)
        runs = blocks // _RUN if self.partial != self.kind and isinstance(blocks, int) else 0

        def lane(target: Any, first: Expr) -> Callable[[Expr], None]:
            return lambda i: self._accumulate(target, i, self._term({**places, last: begin + first + i}))

        def run(number: Expr) -> None:
            partial = kernel().array(n, self.partial)
            self._fill(partial, _zero, n)
            kernel().loop(_RUN, lambda b: kernel().loop(n, lane(partial, (number * _RUN + b) * n)))
            kernel().loop(n, lambda i: self._accumulate(lanes, i, named(tir.BufferLoad(partial, [i]))))

        kernel().loop(runs, run)
        kernel().loop(blocks - runs * _RUN, lambda b: kernel().loop(n, lane(lanes, (b + runs * _RUN) * n)))
        kernel().loop(rest, lane(lanes, done))

    @property
    def _lanes(self) -> int:
        size = self.x.shape[self.axes[-1]]
        return _WIDE if not isinstance(size, int) or size >= _LONG else _NARROW

    def _at(self, steps: Sequence[Expr]) -> dict[int, Expr]:
        return dict(zip(self.axes, steps, strict=True))


def _whole_lanes(size: Any, lanes: int) -> tuple[Any, Any, Any]:
    """How many times all lanes are filled, how many terms that takes, and how many are left."""
    if isinstance(size, int):
        blocks, rest = divmod(size, lanes)
        return blocks, tir.const(blocks * lanes, "int32"), rest
    blocks = named(tir.indexdiv(size, lanes))
    return blocks, blocks * lanes, size - blocks * lanes


def reduced(
    x: Array, axes: Sequence[int], reducer: Reducer, dtype: DType, value: Callable[..., Expr] | None = None,
    partial: DType | None = None,
) -> Array:  # fmt: skip
    """x combined over axes, which stay with size 1. ``value`` makes the terms of an element and its position along
    the axes; they have the result's type, the compute type of ``dtype``, or that of ``partial``."""
    value = value or (lambda element, *_: element)
    shape = kept(x.shape, axes)
    if not axes:
        return Array(shape, partial or dtype, lambda *i: value(x.at(*i)), None, x.cost + 1)
    stage = _Reduction(x, tuple(axes), reducer, compute_type(dtype), value, compute_type(partial or dtype))

    def at(*i: Expr) -> Expr:
        return kernel().stage(stage, [i[d] for d in stage.others])

    return Array(shape, dtype, at, None, x.cost + 1)


def in_order(
    x: Array, axes: Sequence[int], reducer: Reducer, dtype: DType, value: Callable[..., Expr] | None = None,
    partial: DType | None = None,
) -> Array:  # fmt: skip
    """``reduced``, with trailing axes as one where elements keep their order."""
    first = min(axes, default=0)
    if len(axes) > 1 and tuple(axes) == tuple(range(first, x.ndim)) and x.flat is not None:
        rows = replace(x.reshaped((*x.shape[:first], count(x.shape, axes))), memory=None)
        return reduced(rows, (first,), reducer, dtype, value, partial).reshaped(kept(x.shape, axes))
    return reduced(x, axes, reducer, dtype, value, partial)


def kept(shape: Sequence[int], axes: Sequence[int]) -> tuple[int, ...]:
    """The shape after a reduction that keeps its axes with size 1."""
    return tuple(1 if d in axes else n for d, n in enumerate(shape))


def total(x: Array, axes: Sequence[int]) -> Array:
    """The sum, in the compute type of x: of integers, int64."""
    wide = widened(x)
    if not x.dtype.is_floating:
        return in_order(wide, axes, SUM, DType.int64, lambda v, *_: cast(v, wide.dtype, DType.int64))
    if wide.dtype is DType.float64 or not axes:
        return in_order(wide, axes, SUM, wide.dtype)
    double = in_order(wide, axes, SUM, DType.float64, None, wide.dtype)
    return elementwise(lambda v: cast(v, DType.float64, wide.dtype), double, dtype=wide.dtype)


def mean(x: Array, axes: Sequence[int]) -> Array:
    """The mean, in the compute type of x."""
    size = count(x.shape, axes)
    return elementwise(lambda v: v / like(size, v), total(x, axes), dtype=widened(x).dtype)


def moments(x: Array, axes: Sequence[int], correction: float = 0) -> tuple[Array, Array]:
    """Mean and variance: the sum of squares is divided by the count less the correction."""
    wide = widened(x)
    center = mean(wide, axes)
    squares = total(elementwise(_square_of_difference, wide, center, dtype=wide.dtype), axes)
    size = less(count(x.shape, axes), correction)
    return center, elementwise(lambda v: v / like(size, v), squares, dtype=wide.dtype)


def _square_of_difference(x: Expr, center: Expr) -> Expr:
    return sub(x, center) * sub(x, center)


def _lowest(kind: str) -> Expr:
    dtype = DType(kind)
    return literal(-np.inf if dtype.is_floating else np.iinfo(kind).min, dtype)


def _highest(kind: str) -> Expr:
    dtype = DType(kind)
    return literal(np.inf if dtype.is_floating else np.iinfo(kind).max, dtype)


def _larger(old: Expr, new: Expr) -> Expr:
    return select(tir.any(new > old, is_nan(new)), new, old)


def _smaller(old: Expr, new: Expr) -> Expr:
    return select(tir.any(new < old, is_nan(new)), new, old)


def extreme(x: Array, axes: Sequence[int], largest_wins: bool) -> Array:
    """The largest or smallest element, in the compute type of x (uint8 of booleans); NaN wins, then the first."""
    reducer = Reducer(_larger, _lowest) if largest_wins else Reducer(_smaller, _highest)
    if x.dtype is DType.bool:
        return in_order(x, axes, reducer, DType.uint8, lambda v, *_: tir.Cast("uint8", v))
    return in_order(widened(x), axes, reducer, widened(x).dtype)


def product(x: Array, axes: Sequence[int]) -> Array:
    """The product, in the compute type of x: of integers, int64."""
    wide = widened(x)
    reducer = Reducer(lambda a, b: a * b, lambda kind: literal(1, DType(kind)))
    if x.dtype.is_floating:
        return reduced(wide, axes, reducer, wide.dtype)
    return reduced(wide, axes, reducer, DType.int64, lambda v, *_: cast(v, wide.dtype, DType.int64))


SUM = Reducer(lambda a, b: a + b, lambda kind: literal(-0.0 if kind.startswith("float") else 0, DType(kind)))
MINIMUM = Reducer(tir.min, _highest)
MAXIMUM = Reducer(tir.max, _lowest)
