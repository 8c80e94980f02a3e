"""Products of groups of rows or columns, each with a matrix of its own: what mixtures of experts are made of.

Where groups end is known at run time only. A loop goes over tiles of few rows that belong to one group each, so that
the work is that of one product, and a group's NaN stays in its group.
"""

from __future__ import annotations

from collections.abc import Callable

import jax.numpy as jnp
from jax import lax
from lazycore_plugin_api import DType, Node

from lazycore_xla.lowerings.operands import Array
from lazycore_xla.registry import REAL, lowering

__all__: list[str] = []

_TILE = 64


def _unlike(node: Node) -> str | None:
    return "a bias" if len(node.args) > 3 and node.args[3] is not None else None


@lowering("aten._grouped_mm.default", widen=True, dtypes=REAL, check=_unlike)
def _grouped_mm(a: Array, b: Array, ends: Array | None, bias: None, dtype: DType | None) -> Array:
    """a @ b, where whichever is not a batch is cut into groups: along rows of ``a``, columns of ``b``, or between."""
    del bias, dtype
    if ends is None:
        return jnp.matmul(a, b, precision=lax.Precision.HIGHEST)
    if a.ndim == 2 and b.ndim == 2:
        return _contracted(a.T, b, ends)
    if a.ndim == 2:
        return _rows(a, b, ends)
    return _rows(b.T, jnp.swapaxes(a, 1, 2), ends).T


def _rows(a: Array, b: Array, ends: Array) -> Array:
    """(M, K) x (G, K, N) -> (M, N): each group of rows by its own matrix; rows behind the last group are 0."""
    rows, columns = a.shape[0], b.shape[2]
    padded = jnp.pad(a, ((0, _TILE), (0, 0)))

    def add(result: Array, group: Array, start: Array) -> Array:
        tile = lax.dynamic_slice_in_dim(padded, start, _TILE)
        # Rows of the next group are in the tile too; they are written again after it.
        return lax.dynamic_update_slice_in_dim(result, _dot(tile, b[group]), start, 0)

    result = _over_tiles(ends, add, jnp.zeros((rows + _TILE, columns), a.dtype))[:rows]
    return jnp.where(jnp.arange(rows)[:, None] < ends[-1:], result, 0)


def _contracted(a: Array, b: Array, ends: Array) -> Array:
    """(K, M) x (K, N) -> (G, M, N): for each group of rows of both, the sum of their outer products."""
    padded = [jnp.pad(x, ((0, _TILE), (0, 0))) for x in (a, b)]

    def add(result: Array, group: Array, start: Array) -> Array:
        inside = (start + jnp.arange(_TILE) < ends[group])[:, None]
        left, right = (jnp.where(inside, lax.dynamic_slice_in_dim(x, start, _TILE), 0) for x in padded)
        return result.at[group].add(_dot(left.T, right))

    return _over_tiles(ends, add, jnp.zeros((ends.shape[0], a.shape[1], b.shape[1]), a.dtype))


def _dot(a: Array, b: Array) -> Array:
    return jnp.matmul(a, b, precision=lax.Precision.HIGHEST)


def _over_tiles(ends: Array, add: Callable[[Array, Array, Array], Array], result: Array) -> Array:
    """Fold ``add(result, group, start)`` over the tiles of all groups, in the order of their rows."""
    if not ends.shape[0]:
        return result
    starts = jnp.concatenate([jnp.zeros_like(ends[:1]), ends[:-1]])
    tiles = (ends - starts + _TILE - 1) // _TILE
    last = jnp.cumsum(tiles)

    def step(i: Array, result: Array) -> Array:
        group = jnp.sum(last <= i)
        return add(result, group, starts[group] + (i - last[group] + tiles[group]) * _TILE)

    return lax.fori_loop(jnp.zeros_like(last[-1]), last[-1], step, result)
