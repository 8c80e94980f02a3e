"""Random bits: Philox4x32-10, as ``lazycore_plugin_api.philox`` defines it."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import jax.numpy as jnp
from jax import lax

from lazycore_xla.lowerings.operands import Array, as_dtype
from lazycore_xla.registry import REAL, lowering

__all__: list[str] = []

_MULTIPLIERS = (0xD2511F53, 0xCD9E8D57)
_WEYL = (0x9E3779B9, 0xBB67AE85)


@lowering("lazycore.philox.default", dtypes=REAL)
def _philox(seed: Array | int, offset: Array | int, size: Sequence[int], words: int) -> tuple[Array, ...]:
    """Every element computes its whole block and picks its lanes. Elements of one block repeat the work of one
    another, but then XLA makes one vectorized loop of it and all that follows; lanes computed once and interleaved
    cost ten times as much."""
    element = lax.iota(jnp.uint64, prod(size))
    lanes = _block(element * words // 4, as_dtype(seed, jnp.uint64), as_dtype(offset, jnp.uint64))
    choice = (element * words % 4).astype(jnp.uint32)
    return tuple(_lane(lanes[j::words], choice, words).reshape(tuple(size)) for j in range(words))


def _lane(candidates: Sequence[Array], choice: Array, words: int) -> Array:
    """Of lanes j, j + words, …, the one at which the element's words begin."""
    chosen = candidates[0]
    for position, candidate in enumerate(candidates[1:], start=1):
        chosen = jnp.where(choice == jnp.uint32(position * words), candidate, chosen)
    return chosen


def _block(block: Array, seed: Array, offset: Array) -> list[Array]:
    """The four lanes of the blocks with these numbers: ten rounds, written out."""
    x = [_low(block), _high(block), *(jnp.broadcast_to(half(offset), block.shape) for half in (_low, _high))]
    key = [_low(seed), _high(seed)]
    for _ in range(10):
        p0, p1 = (x[i].astype(jnp.uint64) * jnp.uint64(m) for i, m in zip((0, 2), _MULTIPLIERS, strict=True))
        x = [_high(p1) ^ x[1] ^ key[0], _low(p1), _high(p0) ^ x[3] ^ key[1], _low(p0)]
        key = [k + jnp.uint32(w) for k, w in zip(key, _WEYL, strict=True)]
    return x


def _low(x: Array) -> Array:
    return x.astype(jnp.uint32)


def _high(x: Array) -> Array:
    return (x >> jnp.uint64(32)).astype(jnp.uint32)
