"""A tensor as a function from positions to expressions, before anybody has decided where it is computed."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from lazycore_plugin_api import DType

from lazycore_tvm.loops import kernel, named
from lazycore_tvm.scalars import Expr, compute_type, load, rounded, storage_type, store
from lazycore_tvm.tvm_runtime import tvm

__all__ = ["Array", "Shape", "elementwise", "ravel", "remainder", "staged", "stored", "unravel", "widened"]

tir = tvm.tirx
Shape: TypeAlias = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Array:
    """``at`` gives the element at a position, in the dtype's compute type; ``flat``, where elements keep their
    row-major order on the way from memory, the one at a position of the flattened tensor. ``cost`` counts the ops that
    are computed for an element on the way; 0 for memory and views of it. ``memory`` is the variable of the program that
    holds exactly the array. ``divided``: positions are quotients and remainders of others, and must not become such
    again: TVM's simplifier is wrong about a remainder of a sum of a remainder."""

    shape: Shape
    dtype: DType
    at: Callable[..., Expr]
    flat: Callable[[Expr], Expr] | None = None
    cost: int = 0
    memory: Any = None
    divided: bool = False

    @property
    def size(self) -> int:
        """Number of elements."""
        return math.prod(self.shape)

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        return len(self.shape)

    def element(self, place: Expr) -> Expr:
        """The element at a position of the flattened tensor."""
        return self.flat(place) if self.flat else self.at(*unravel(place, self.shape))

    def reshaped(self, shape: Shape) -> Array:
        """The same elements in row-major order."""
        if shape == self.shape:
            return self
        if self.flat is None and _long(shape) == _long(self.shape):
            return self.moved(shape, lambda *i: self.at(*_spread(i, shape, self.shape)))
        at = lambda *i: self.element(ravel(i, shape))  # noqa: E731
        return Array(shape, self.dtype, at, self.flat, self.cost, self.memory, self.flat is None)

    def moved(self, shape: Shape, at: Callable[..., Expr]) -> Array:
        """A view: elements of this array at other positions."""
        return Array(shape, self.dtype, at, None, self.cost, divided=self.divided)


def widened(x: Array) -> Array:
    """The array in the type that its elements are computed in: 16-bit floats as float32, so that nothing is rounded."""
    return replace(x, dtype=DType(compute_type(x.dtype)), memory=None)


def _long(shape: Shape) -> list[int]:
    return [n for n in shape if n != 1]


def _spread(i: Sequence[Any], shape: Shape, to: Shape) -> tuple[Any, ...]:
    """A position in another shape that differs only in dimensions of size 1."""
    rest = (index for index, n in zip(i, shape, strict=True) if n != 1)
    return tuple(tir.const(0, "int32") if n == 1 else next(rest) for n in to)


def ravel(indices: Sequence[Any], shape: Shape) -> Any:
    """The position in the flattened tensor."""
    place: Any = tir.const(0, "int32")
    for index, size in zip(indices, shape, strict=True):
        if size != 1:
            place = place * size + index
    return place


def unravel(place: Any, shape: Shape) -> tuple[Any, ...]:
    """The indices of a position of the flattened tensor."""
    indices = []
    left: Any = math.prod(shape) if all(isinstance(n, int) and n for n in shape) else None
    for size in reversed(shape):
        indices.append(tir.const(0, "int32") if size == 1 else remainder(place, size, left))
        place = tir.indexdiv(place, size) if size != 1 else place
        left = left and left // size
    return tuple(reversed(indices))


def remainder(place: Any, size: Any, below: Any) -> Any:
    """A position, not negative and less than ``below`` if that is known, modulo a size.

    By a power of two LLVM has it as the lowest bits, and where two reads of a loop depend on them its vectorizer takes
    more lanes than come before the bits begin again for neighbours in memory, and reads beyond. It does not look
    through floats, which are exact here: single precision, twice as fast, up to 2 ** 24.
    """
    if not isinstance(size, int) or size & (size - 1):
        return tir.indexmod(place, size)
    kind = "float32" if isinstance(below, int) and below <= 1 << 24 else "float64"
    quotient = tir.Cast("int32", tir.Cast(kind, place) * tir.const(1 / size, kind))
    return place - quotient * size


def stored(buffer: Any, shape: Shape, dtype: DType, memory: Any) -> Array:
    """A flat tensor in memory, in the kernels' and the program's terms."""

    def flat(place: Expr) -> Expr:
        return load(kernel().read(buffer, place), dtype)

    return Array(shape, dtype, lambda *i: flat(ravel(i, shape)), flat, 0, memory)


@dataclass(frozen=True, eq=False)
class _Stage:
    """An array's elements, held."""

    array: Array
    dtype: DType

    @property
    def sizes(self) -> Shape:
        """Of its dimensions but those of size 1."""
        return tuple(n for n in self.array.shape if n != 1)

    @property
    def kind(self) -> str:
        """Its elements' type in memory."""
        return storage_type(self.dtype)

    @property
    def deepest(self) -> int:
        """It may stand in the loops of all dimensions."""
        return len(self.sizes)

    def write(self, rows: Sequence[Expr], target: Any) -> None:
        """Fill the buffer with the elements of the rows."""
        sizes = self.sizes[len(rows) :]

        def element(*inner: Expr) -> None:
            indices = iter((*rows, *inner))
            full = [tir.const(0, "int32") if n == 1 else next(indices) for n in self.array.shape]
            kernel().write(target, ravel(inner, sizes), store(self.array.at(*full), self.dtype))

        kernel().loops(sizes, element, level=True, parallel=True)


def staged(array: Array) -> Array:
    """The array, computed once inside of the kernel that reads it."""
    if array.cost == 0:
        return array
    kind = DType.bool if array.dtype is DType.bool else DType(compute_type(array.dtype))
    stage = _Stage(array, kind)

    def at(*i: Expr) -> Expr:
        own = [index for index, n in zip(i, array.shape, strict=True) if n != 1]
        return load(kernel().stage(stage, own), kind)

    return Array(array.shape, array.dtype, at)


def elementwise(function: Callable[..., Expr], *operands: Array, dtype: DType) -> Array:
    """One expression per element of operands that broadcast; the result is rounded to its dtype."""
    shape = _broadcast([o.shape for o in operands])
    cost = 1 + sum(o.cost for o in operands)

    def at(*i: Expr) -> Expr:
        return rounded(_applied(function, [o.at(*_position(o, i)) for o in operands]), dtype)

    flat = None
    if all(o.size == 1 or (o.shape == shape and o.flat) for o in operands):

        def flat(place: Expr) -> Expr:
            values = [_one(o) if o.size == 1 else o.element(place) for o in operands]
            return rounded(_applied(function, values), dtype)

    return Array(shape, dtype, at, flat, cost, divided=any(o.divided for o in operands))


def _applied(function: Callable[..., Expr], values: Sequence[Expr]) -> Expr:
    """The function of values that are each computed once."""
    return named(function(*map(named, values)))


def _one(array: Array) -> Expr:
    return array.at(*(tir.const(0, "int32"),) * array.ndim)


def _broadcast(shapes: Sequence[Shape]) -> Shape:
    rank = max(map(len, shapes), default=0)
    padded = [(1,) * (rank - len(s)) + s for s in shapes]
    return tuple(next((n for n in sizes if n != 1), 1) for sizes in zip(*padded, strict=True))


def _position(array: Array, indices: Sequence[Expr]) -> tuple[Expr, ...]:
    own = indices[len(indices) - array.ndim :]
    return tuple(tir.const(0, "int32") if n == 1 else i for i, n in zip(own, array.shape, strict=True))
