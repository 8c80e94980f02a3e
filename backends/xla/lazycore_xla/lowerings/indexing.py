"""Reading by index: embedding, gather, index_select, advanced indexing, take.

The core has checked the range of indices, hence ``promise_in_bounds``: XLA then emits no checks of its own, and
keeps inside the operand all the same.
"""

from __future__ import annotations

from collections.abc import Sequence

import jax.numpy as jnp
from jax import lax

from lazycore_xla.lowerings.operands import Array, axis_of
from lazycore_xla.registry import ANY, REAL, lowering

__all__ = ["IN_BOUNDS", "along", "grid", "one_dimensional"]

IN_BOUNDS = "promise_in_bounds"


def one_dimensional(x: Array) -> Array:
    """A 0-d tensor as one of size 1: ATen's index ops take either."""
    return x.reshape(1) if x.ndim == 0 else x


def along(x: Array, dim: int, index: Array) -> tuple[slice | Array, ...]:
    """The numpy index that puts ``index`` at one dimension of x and all at the others."""
    axis = axis_of(dim, x.ndim)
    return (*[slice(None)] * axis, one_dimensional(index))


def grid(dim: int, index: Array) -> tuple[Array, ...]:
    """The numpy index of ``gather``: the index itself at ``dim``, at every other dimension where the element lies."""
    axis = axis_of(dim, index.ndim)
    return tuple(index if d == axis else lax.broadcasted_iota(index.dtype, index.shape, d) for d in range(index.ndim))


@lowering("aten.embedding.default", dtypes=REAL)
def _embedding(
    weight: Array, indices: Array, padding_idx: int, scale_grad_by_freq: bool, sparse: bool  # noqa: ARG001
) -> Array:  # fmt: skip
    return weight.at[indices].get(mode=IN_BOUNDS)


@lowering("aten.embedding_dense_backward.default", widen=True)
def _embedding_backward(
    gradient: Array, indices: Array, num_weights: int, padding_idx: int, scale_grad_by_freq: bool
) -> Array:
    """Rows of the gradient added up by index; the padding index gets none."""
    flat = indices.reshape(-1)
    width = gradient.shape[indices.ndim :]
    rows = jnp.where((flat != padding_idx)[:, None], gradient.reshape(flat.size, *width), 0)
    if scale_grad_by_freq:
        counts = jnp.zeros(num_weights, gradient.dtype).at[flat].add(1, mode=IN_BOUNDS)
        rows = rows / counts.at[flat].get(mode=IN_BOUNDS)[:, None]
    return jnp.zeros((num_weights, *width), gradient.dtype).at[flat].add(rows, mode=IN_BOUNDS)


@lowering("aten.gather.default", dtypes=ANY)
def _gather(x: Array, dim: int, index: Array, *, sparse_grad: bool = False) -> Array:  # noqa: ARG001
    if index.size == 0:
        return jnp.zeros(index.shape, x.dtype)
    return one_dimensional(x).at[grid(dim, one_dimensional(index))].get(mode=IN_BOUNDS).reshape(index.shape)


@lowering("aten.index_select.default", dtypes=ANY)
def _index_select(x: Array, dim: int, index: Array) -> Array:
    if x.ndim == 0:
        return x
    return x.at[along(x, dim, index)].get(mode=IN_BOUNDS)


@lowering("aten.index.Tensor", dtypes=ANY)
def _index(x: Array, indices: Sequence[Array | None]) -> Array:
    """NumPy's advanced indexing; None takes a whole dimension."""
    return x.at[tuple(slice(None) if i is None else i for i in indices)].get(mode=IN_BOUNDS)


@lowering("aten.take.default", dtypes=ANY)
def _take(x: Array, index: Array) -> Array:
    if index.size == 0:
        return jnp.zeros(index.shape, x.dtype)
    return x.reshape(-1).at[index].get(mode=IN_BOUNDS)
