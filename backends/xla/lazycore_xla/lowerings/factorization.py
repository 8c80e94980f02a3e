"""Cholesky, LU and QR factorizations of stacks of matrices, by LAPACK as in ATen."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
from jax import lax
from lazycore_plugin_api import DType, Node

from lazycore_xla.lowerings.operands import Array, Out
from lazycore_xla.registry import lowering

__all__ = ["FACTORABLE", "adjoint", "lu_factor", "row_order", "unchecked"]

FACTORABLE = frozenset({DType.float32, DType.float64, DType.complex64, DType.complex128, DType.int32, DType.bool})
"""What LAPACK computes in, and the dtypes of pivots and flags."""


def adjoint(x: Array) -> Array:
    """The conjugate transpose of each matrix."""
    return jnp.conj(jnp.swapaxes(x, -1, -2))


def unchecked(node: Node) -> str | None:
    """Refuses ``check_errors``: a compiled program cannot raise."""
    return "check_errors must raise at once" if node.kwargs.get("check_errors") else None


def _first(failed: Array) -> Array:
    """LAPACK's info: the first failing position, counted from 1 along the last dimension, or 0."""
    return jnp.where(failed.any(-1), jnp.argmax(failed, axis=-1) + 1, 0).astype(jnp.int32)


@lowering("aten.linalg_cholesky_ex.default", dtypes=FACTORABLE, check=unchecked)
def _cholesky(x: Array, *, upper: bool = False, check_errors: bool = False) -> tuple[Array, Array]:
    """The factor, NaN where there is none, and LAPACK's info. Only the factor's own triangle is read."""
    del check_errors
    lower = adjoint(x) if upper else x
    if x.size == 0:
        return x, jnp.zeros(x.shape[:-2], jnp.int32)
    factor = lax.linalg.cholesky(lower, symmetrize_input=False)
    clean = jnp.zeros(x.shape[:-2], jnp.int32)
    info = lax.cond(jnp.isnan(factor).any(), lambda: _first(_bad_pivots(lower)), lambda: clean)
    return adjoint(factor) if upper else factor, info


def _bad_pivots(x: Array) -> Array:
    """Which pivots are not positive in the elimination that a Cholesky factorization is."""
    rows = jnp.arange(x.shape[-1])

    def eliminate(k: Array, state: tuple[Array, Array]) -> tuple[Array, Array]:
        rest, pivots = state
        column = jnp.where(rows >= k, jnp.take(rest, k, axis=-1), 0)
        pivot = jnp.take(column, k, axis=-1).real
        scale = jnp.where(pivot > 0, pivot, 1).astype(x.dtype)[..., None, None]
        rest = rest - column[..., :, None] * jnp.conj(column)[..., None, :] / scale
        return rest, pivots.at[..., k].set(pivot)

    _, pivots = lax.fori_loop(0, x.shape[-1], eliminate, (x, jnp.zeros(x.shape[:-1], x.real.dtype)))
    return ~(pivots > 0)


def _pivoting(node: Node) -> str | None:
    return unchecked(node) or (None if node.kwargs.get("pivot", True) else "LAPACK's LU always pivots")


@lowering("aten.linalg_lu_factor_ex.default", dtypes=FACTORABLE, check=_pivoting)
def lu_factor(x: Array, *, pivot: bool = True, check_errors: bool = False) -> tuple[Array, Array, Array]:
    """L below and U on and above the diagonal, pivots counted from 1, and LAPACK's info."""
    del pivot, check_errors
    factors, pivots, _ = _lu(x)
    return factors, pivots + 1, _lu_info(factors)


def _lu(x: Array) -> tuple[Array, Array, Array]:
    if x.size:
        factors, pivots, order = lax.linalg.lu(x)
        return factors, pivots.astype(jnp.int32), order
    steps = min(x.shape[-2:])
    order = jnp.broadcast_to(jnp.arange(x.shape[-2], dtype=jnp.int32), x.shape[:-1])
    return x, jnp.zeros((*x.shape[:-2], steps), jnp.int32), order


def _lu_info(factors: Array) -> Array:
    """The first zero on U's diagonal, counted from 1, or 0."""
    if 0 in factors.shape:
        return jnp.zeros(factors.shape[:-2], jnp.int32)
    return _first(jnp.diagonal(factors, axis1=-2, axis2=-1) == 0)


def row_order(pivots: Array, rows: int) -> Array:
    """The rows in the order that the interchanges (counted from 1) leave them in."""
    if pivots.size == 0:
        return jnp.broadcast_to(jnp.arange(rows, dtype=jnp.int32), (*pivots.shape[:-1], rows))
    return lax.linalg.lu_pivots_to_permutation(pivots - 1, rows)


@lowering("aten.linalg_lu.default", dtypes=FACTORABLE, check=_pivoting, needs_out=True)
def _lu_parts(x: Array, *, pivot: bool = True, out: Out) -> tuple[Array, Array, Array]:  # noqa: ARG001
    factors, _, order = _lu(x)
    return _permutation(order, x.dtype), *_triangles(factors)


def _permutation(order: Array, dtype: Any) -> Array:
    """The matrix P of A = P L U: row order[i] of A is row i of L U."""
    return (order[..., None, :] == jnp.arange(order.shape[-1])[:, None]).astype(dtype)


def _triangles(factors: Array) -> tuple[Array, Array]:
    rows, columns = factors.shape[-2:]
    steps = min(rows, columns)
    lower = jnp.tril(factors[..., :, :steps], -1) + jnp.eye(rows, steps, dtype=factors.dtype)
    return lower, jnp.triu(factors[..., :steps, :])


@lowering("aten.lu_unpack.default", dtypes=FACTORABLE, needs_out=True)
def _lu_unpack(
    factors: Array, pivots: Array, unpack_data: bool, unpack_pivots: bool, *, out: Out
) -> tuple[Array, Array, Array]:  # fmt: skip
    """P, L and U; what is not asked for is empty."""
    absent = [jnp.zeros(spec.static_shape, spec.dtype.numpy) for spec in out]
    lower, upper = _triangles(factors) if unpack_data else (absent[1], absent[2])
    if not unpack_pivots:
        return absent[0], lower, upper
    return _permutation(row_order(pivots, factors.shape[-2]), factors.dtype), lower, upper


@lowering("aten.linalg_qr.default", dtypes=FACTORABLE, needs_out=True)
def _qr(x: Array, mode: str, *, out: Out) -> tuple[Array, Array]:
    if 0 in x.shape:
        return _qr_of_nothing(out)
    q, r = lax.linalg.qr(x, full_matrices=mode == "complete")
    return (jnp.zeros(out[0].static_shape, x.dtype) if mode == "r" else q), r


def _qr_of_nothing(out: Out) -> tuple[Array, Array]:
    """The complete Q of a matrix without columns is the identity."""
    shape = out[0].static_shape
    identity = jnp.eye(shape[-2], shape[-1], dtype=out[0].dtype.numpy) if len(shape) > 1 else jnp.zeros(shape)
    q = jnp.broadcast_to(identity, shape).astype(out[0].dtype.numpy)
    return q, jnp.zeros(out[1].static_shape, out[1].dtype.numpy)


@lowering("aten.geqrf.default", dtypes=FACTORABLE)
def _geqrf(x: Array) -> tuple[Array, Array]:
    """R with the Householder vectors below it, and their factors."""
    if 0 in x.shape:
        return x, jnp.zeros((*x.shape[:-2], min(x.shape[-2:])), x.dtype)
    packed, factors = jnp.linalg.qr(x, mode="raw")
    return jnp.swapaxes(packed, -1, -2), factors


@lowering("aten.linalg_householder_product.default", dtypes=FACTORABLE)
def _householder(vectors: Array, factors: Array) -> Array:
    """The first columns of the product of the reflections."""
    if 0 in vectors.shape:
        return vectors
    if factors.shape[-1] == 0:
        return jnp.broadcast_to(jnp.eye(vectors.shape[-2], vectors.shape[-1], dtype=vectors.dtype), vectors.shape)
    return lax.linalg.householder_product(vectors, factors)
