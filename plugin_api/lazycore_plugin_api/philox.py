"""The device's random bits: Philox4x32-10, in NumPy, as the text that every backend's own version must agree with.

Salmon, Moraes, Dror, Shaw: "Parallel random numbers: as easy as 1, 2, 3" (SC 2011). A counter-based generator is a
function from a counter and a key to bits, so that any element can be computed without the ones before it.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, TypeAlias

import numpy as np

__all__ = ["philox4x32", "philox_words"]

Words: TypeAlias = np.ndarray[Any, np.dtype[np.uint64]]

_ROUNDS = 10
_MULTIPLIERS = (np.uint64(0xD2511F53), np.uint64(0xCD9E8D57))
_WEYL = (0x9E3779B9, 0xBB67AE85)
_LOW = np.uint64(0xFFFFFFFF)
_HALF = np.uint64(32)
# Blocks computed at a time: the working set of a round then fits a core's own cache.
_CHUNK = 4096


def philox4x32(counter: Sequence[Any], key: tuple[int, int]) -> tuple[Words, Words, Words, Words]:
    """Ten rounds on a counter of four arrays (or numbers) and a key of two numbers, all of 32 bits; the four lanes of
    the result as uint64 arrays that hold 32 bits each."""
    x0, x1, x2, x3 = (np.asarray(word, np.uint64) for word in counter)
    k0, k1 = key
    for _ in range(_ROUNDS):
        p0, p1 = x0 * _MULTIPLIERS[0], x2 * _MULTIPLIERS[1]
        x0, x1, x2, x3 = (p1 >> _HALF) ^ x1 ^ np.uint64(k0), p1 & _LOW, (p0 >> _HALF) ^ x3 ^ np.uint64(k1), p0 & _LOW
        k0, k1 = (k0 + _WEYL[0]) & 0xFFFFFFFF, (k1 + _WEYL[1]) & 0xFFFFFFFF
    return x0, x1, x2, x3


def philox_words(
    seed: int, offset: int, size: Sequence[int], words: int
) -> tuple[np.ndarray[Any, np.dtype[np.uint32]], ...]:
    """``lazycore.philox``: ``words`` (1, 2 or 4) arrays of uint32 and shape ``size``, the bits of draw ``offset``.

    Array j holds word ``e * words + j`` at the element with row-major index e. Word w is lane ``w % 4`` of the block
    whose counter is (low and high half of ``w // 4``, low and high half of ``offset``), under the key (low and high
    half of ``seed``); negative seeds and offsets count modulo 2**64. Raises ValueError for another number of words.
    """
    if words not in (1, 2, 4):
        raise ValueError(f"an element takes 1, 2 or 4 words of a block, not {words}")
    count = prod(size)
    lanes = np.empty((-(-count * words // 4), 4), np.uint32)
    for start in range(0, len(lanes), _CHUNK):
        block = np.arange(start, min(start + _CHUNK, len(lanes)), dtype=np.uint64)
        counter = (block & _LOW, block >> _HALF, *_halves(offset))
        for lane, column in enumerate(philox4x32(counter, _halves(seed))):
            lanes[start : start + len(block), lane] = column
    flat = lanes.reshape(-1)[: count * words].reshape(count, words)
    return tuple(flat[:, j].reshape(tuple(size)) for j in range(words))


def _halves(number: int) -> tuple[int, int]:
    return number & 0xFFFFFFFF, (number >> 32) & 0xFFFFFFFF
