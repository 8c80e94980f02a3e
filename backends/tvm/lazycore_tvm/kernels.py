"""Loops out of expressions: one function computes one node's results, with all that was fused into it."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

from lazycore_tvm.arrays import Array, ravel
from lazycore_tvm.loops import Expr, Kernel, TooDeep, kernel
from lazycore_tvm.scalars import storage_type, store
from lazycore_tvm.sizes import extent
from lazycore_tvm.tvm_runtime import detect_linear_equation, tvm

__all__ = ["build"]

tir = tvm.tirx
_zero = tir.const(0, "int32")
# Results of fewer elements are in the cache with their operands.
_WORTH_TILES = 1 << 12
_TILE, _FAR = 8, 8


def build(arrays: Sequence[Array], symbols: Sequence[Any] = ()) -> tuple[Any, list[str]]:
    """The function that writes the arrays, flattened, after its operands and the symbols of sizes that vary; and the
    names of the operands' buffers.

    Results that keep the row-major order of their operands have one loop, others one for each dimension, within which
    rows of intermediate results stand.
    """
    depth = max(array.ndim for array in arrays)
    while True:
        try:
            return _built(arrays, symbols, depth)
        except TooDeep as error:
            depth = error.depth


def _built(arrays: Sequence[Array], symbols: Sequence[Any], depth: int) -> tuple[Any, list[str]]:
    outputs = [_output(array, f"out{i}") for i, array in enumerate(arrays)]
    with Kernel(depth) as built:
        for nest in _nests(list(zip(arrays, outputs, strict=True))):
            nest.write()
    return built.function(symbols, outputs), list(built.operands)


def _output(array: Array, name: str) -> Any:
    return tir.decl_buffer((extent(array.size),), storage_type(array.dtype), name)


class _Nest:
    """Results that share their outermost loops."""

    def __init__(self, members: list[tuple[Array, Any]]) -> None:
        self._members = members
        self._flat = all(array.flat for array, _ in members)

    def write(self) -> None:
        """Add the loops."""
        array, output = self._members[0]
        across = _across(array) if len(self._members) == 1 else None
        if self._flat:
            kernel().loop(array.size, self._element, parallel=True)
        elif across is not None:
            _write_tiles(_Writer(array, output, ()), _sizes(array), across)
        else:
            shared = _common([_sizes(array) for array, _ in self._members])
            kernel().loops(shared, self._rest, level=True, parallel=True)

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


def _across(array: Array) -> int | None:
    """The dimension along which the operands' memory is contiguous, where that is not the last one."""
    sizes = _sizes(array)
    known = all(isinstance(n, int) for n in sizes)
    if array.flat or len(sizes) < 2 or not known or array.size < _WORTH_TILES:
        return None
    variables = [tir.Var("i", "int32") for _ in sizes]
    indices = iter(variables)
    with Kernel(0) as probe:
        array.at(*(_zero if n == 1 else next(indices) for n in array.shape))
    if probe.staged:
        return None
    return next((d for place in probe.places if (d := _contiguous(place, variables)) is not None), None)


def _contiguous(place: Expr, variables: Sequence[Expr]) -> int | None:
    """The variable whose steps are neighbours, where the last one's steps are far apart."""
    steps = [int(step) for step in detect_linear_equation(place, variables)[:-1] if isinstance(step, tir.IntImm)]
    far = len(steps) == len(variables) and steps[-1] >= _FAR
    return steps.index(1) if far and 1 in steps else None


def _write_tiles(write: _Writer, sizes: tuple[int, ...], across: int) -> None:
    """Loops over tiles of two dimensions, inside of those of the others: both memories stay in the cache."""
    last = len(sizes) - 1
    counts = [-(-n // _TILE) if d in (across, last) else n for d, n in enumerate(sizes)]

    def tile(*outer: Expr) -> None:
        starts = {d: outer[d] * _TILE for d in (across, last)}
        row, column = (
            _TILE if sizes[d] % _TILE == 0 else tir.min(tir.const(_TILE, "int32"), sizes[d] - start)
            for d, start in starts.items()
        )

        def element(i: Expr, j: Expr) -> None:
            inner = {across: i, last: j}
            write(*(starts[d] + inner[d] if d in inner else outer[d] for d in range(len(sizes))))

        kernel().loop(row, lambda i: kernel().loop(column, lambda j: element(i, j)))

    kernel().loops(counts, tile, parallel=True)


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
