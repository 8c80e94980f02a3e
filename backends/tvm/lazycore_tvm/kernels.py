"""Loops out of expressions: one function computes one node's results, with all that was fused into it."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

from lazycore_tvm.arrays import Array, ravel
from lazycore_tvm.loops import Expr, Kernel, TooDeep, kernel
from lazycore_tvm.scalars import storage_type, store
from lazycore_tvm.tvm_runtime import tvm

__all__ = ["build"]

tir = tvm.tirx
_zero = tir.const(0, "int32")


def build(arrays: Sequence[Array]) -> tuple[Any, list[str]]:
    """The function that writes the arrays, flattened, after its operands; and the names of the operands' buffers.

    Results that keep the row-major order of their operands have one loop, others one for each dimension, within which
    rows of intermediate results stand.
    """
    depth = max(array.ndim for array in arrays)
    while True:
        try:
            return _built(arrays, depth)
        except TooDeep as error:
            depth = error.depth


def _built(arrays: Sequence[Array], depth: int) -> tuple[Any, list[str]]:
    outputs = [tir.decl_buffer((array.size,), storage_type(array.dtype), f"out{i}") for i, array in enumerate(arrays)]
    with Kernel(depth) as built:
        for nest in _nests(list(zip(arrays, outputs, strict=True))):
            nest.write()
    return built.function(outputs), list(built.operands)


class _Nest:
    """Results that share their outermost loops."""

    def __init__(self, members: list[tuple[Array, Any]]) -> None:
        self._members = members
        self._flat = all(array.flat for array, _ in members)

    def write(self) -> None:
        """Add the loops."""
        if self._flat:
            kernel().loop(self._members[0][0].size, self._element)
        else:
            kernel().loops(_common([_sizes(array) for array, _ in self._members]), self._rest, level=True)

    def _element(self, place: Expr) -> None:
        for array, output in self._members:
            assert array.flat
            _set(output, place, array.flat(place), array)

    def _rest(self, *rows: Expr) -> None:
        for array, output in self._members:
            kernel().loops(_sizes(array)[len(rows) :], _Writer(array, output, rows), level=True)


class _Writer:
    """The body of the loops of one result."""

    def __init__(self, array: Array, output: Any, rows: tuple[Expr, ...]) -> None:
        self._array, self._output, self._rows = array, output, rows

    def __call__(self, *inner: Expr) -> None:
        indices = iter((*self._rows, *inner))
        full = [_zero if n == 1 else next(indices) for n in self._array.shape]
        place = ravel(full, self._array.shape)
        _set(self._output, place, self._array.at(*full), self._array)


def _set(output: Any, place: Expr, value: Expr, array: Array) -> None:
    kernel().write(output, place, store(value, array.dtype))


def _sizes(array: Array) -> tuple[int, ...]:
    return tuple(n for n in array.shape if n != 1)


def _common(sizes: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
    """The first dimensions of all."""
    shortest = min(sizes, key=len)
    same = itertools.takewhile(lambda d: len({s[d] for s in sizes}) == 1, range(len(shortest)))
    return shortest[: len(list(same))]


def _nests(members: list[tuple[Array, Any]]) -> list[_Nest]:
    """Flat results of one size together, and others that begin with the same dimension."""

    def key(member: tuple[Array, Any]) -> tuple[bool, int]:
        array = member[0]
        return bool(array.flat), array.size if array.flat else (*_sizes(array), 1)[0]

    groups: dict[tuple[bool, int], list[tuple[Array, Any]]] = {}
    for member in members:
        groups.setdefault(key(member), []).append(member)
    return [_Nest(group) for group in groups.values()]
