"""Random bits: Philox4x32-10 as ``lazycore_plugin_api.philox`` writes it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lazycore_plugin_api import DType

from lazycore_tvm.arrays import Array, ravel
from lazycore_tvm.loops import named
from lazycore_tvm.registry import Kind, lowering
from lazycore_tvm.scalars import Expr, select
from lazycore_tvm.tvm_runtime import tvm

tir = tvm.tirx

_ROUNDS = 10
_MULTIPLIERS = (0xD2511F53, 0xCD9E8D57)
_WEYL = (0x9E3779B9, 0xBB67AE85)


def _u64(value: int) -> Expr:
    return tir.const(value, "uint64")


_LOW, _HALF = _u64(0xFFFFFFFF), _u64(32)


def _halves(value: Any) -> tuple[Expr, Expr]:
    wide = tir.Cast("uint64", value.at() if isinstance(value, Array) else tir.const(value, "int64"))
    whole = named(wide)
    return named(whole & _LOW), named(whole >> _HALF)


def _block(counter: Sequence[Expr], key: Sequence[Expr]) -> Sequence[Expr]:
    x0, x1, x2, x3 = counter
    k0, k1 = key
    for _ in range(_ROUNDS):
        p0, p1 = named(x0 * _u64(_MULTIPLIERS[0])), named(x2 * _u64(_MULTIPLIERS[1]))
        x0, x1 = named((p1 >> _HALF) ^ x1 ^ k0), named(p1 & _LOW)
        x2, x3 = named((p0 >> _HALF) ^ x3 ^ k1), named(p0 & _LOW)
        k0, k1 = named((k0 + _u64(_WEYL[0])) & _LOW), named((k1 + _u64(_WEYL[1])) & _LOW)
    return x0, x1, x2, x3


def _word(element: Expr, position: int, words: int, seed: Any, offset: Any) -> Expr:
    """Word ``position`` of an element's ``words``."""
    word = named(tir.Cast("uint64", element) * _u64(words) + _u64(position))
    block, lane = named(word >> _u64(2)), word & _u64(3)
    counter = (block & _LOW, block >> _HALF, *_halves(offset))
    lanes = _block(counter, _halves(seed))
    chosen = lanes[3]
    for number in (2, 1, 0):
        chosen = select(tir.EQ(lane, _u64(number)), lanes[number], chosen)
    return tir.Cast("uint32", chosen)


@lowering("lazycore.philox.default", kind=Kind.kernel, dtypes=frozenset({DType.uint32, DType.int64}))
def philox(seed: Any, offset: Any, size: Sequence[int], words: int) -> tuple[Array, ...]:
    """``words`` results of uint32: the bits of one draw."""
    shape = tuple(size)

    def lane(position: int) -> Array:
        def flat(place: Expr) -> Expr:
            return _word(place, position, words, seed, offset)

        return Array(shape, DType.uint32, lambda *i: flat(ravel(i, shape)), flat, 1)

    return tuple(lane(j) for j in range(words))
