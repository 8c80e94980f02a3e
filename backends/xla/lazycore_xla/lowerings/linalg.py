"""Linear systems and inverses, on stacks of matrices."""

from __future__ import annotations

import jax.numpy as jnp
from jax import lax

from lazycore_xla.lowerings.factorization import FACTORABLE, lu_factor, row_order, unchecked
from lazycore_xla.lowerings.factorization import adjoint as adjoint_of
from lazycore_xla.lowerings.operands import Array
from lazycore_xla.registry import lowering

__all__: list[str] = []


def _solve_triangle(
    a: Array, b: Array, *, upper: bool, left: bool = True, unit: bool = False, adjoint_a: bool = False
) -> Array:  # fmt: skip
    """X of A X = B or X A = B, batch dimensions broadcast."""
    batch = jnp.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    a, b = jnp.broadcast_to(a, (*batch, *a.shape[-2:])), jnp.broadcast_to(b, (*batch, *b.shape[-2:]))
    if b.size == 0:
        return b
    return lax.linalg.triangular_solve(
        a, b, left_side=left, lower=not upper, unit_diagonal=unit, transpose_a=adjoint_a, conjugate_a=adjoint_a
    )


@lowering("aten.linalg_solve_triangular.default", dtypes=FACTORABLE)
def _linalg_solve_triangular(
    a: Array, b: Array, *, upper: bool, left: bool = True, unitriangular: bool = False
) -> Array:  # fmt: skip
    return _solve_triangle(a, b, upper=upper, left=left, unit=unitriangular)


@lowering("aten.triangular_solve.default", dtypes=FACTORABLE)
def _triangular_solve(
    b: Array, a: Array, upper: bool, transpose: bool, unitriangular: bool
) -> tuple[Array, Array]:  # fmt: skip
    """The solution, and A broadcast; the transpose is not conjugated."""
    batch = jnp.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    whole = jnp.broadcast_to(a, (*batch, *a.shape[-2:]))
    turned = jnp.swapaxes(whole, -1, -2) if transpose else whole
    return _solve_triangle(turned, b, upper=upper != transpose, unit=unitriangular), whole


@lowering("aten.linalg_lu_solve.default", dtypes=FACTORABLE)
def _lu_solve(factors: Array, pivots: Array, b: Array, *, left: bool = True, adjoint: bool = False) -> Array:
    """X of A X = B, A given by its factors. X A = B is the adjoint system of the adjoints."""
    if not left:
        return adjoint_of(_lu_solve_left(factors, pivots, adjoint_of(b), not adjoint))
    return _lu_solve_left(factors, pivots, b, adjoint)


def _lu_solve_left(factors: Array, pivots: Array, b: Array, transposed: bool) -> Array:
    batch = jnp.broadcast_shapes(factors.shape[:-2], b.shape[:-2])
    b = jnp.broadcast_to(b, (*batch, *b.shape[-2:]))
    if b.size == 0:
        return b
    order = jnp.broadcast_to(row_order(pivots, b.shape[-2]), (*batch, b.shape[-2]))
    if transposed:
        inner = _solve_triangle(factors, b, upper=True, adjoint_a=True)
        outer = _solve_triangle(factors, inner, upper=False, unit=True, adjoint_a=True)
        return jnp.take_along_axis(outer, jnp.argsort(order, axis=-1)[..., None], axis=-2)
    moved = jnp.take_along_axis(b, order[..., None], axis=-2)
    return _solve_triangle(factors, _solve_triangle(factors, moved, upper=False, unit=True), upper=True)


@lowering("aten.linalg_inv_ex.default", dtypes=FACTORABLE, check=unchecked)
def _inverse(x: Array, *, check_errors: bool = False) -> tuple[Array, Array]:
    del check_errors
    if x.size == 0:
        return x, jnp.zeros(x.shape[:-2], jnp.int32)
    factors, pivots, info = lu_factor(x)
    return _lu_solve_left(factors, pivots, jnp.eye(x.shape[-1], dtype=x.dtype), False), info


@lowering("aten._linalg_solve_ex.default", dtypes=FACTORABLE, check=unchecked)
def _solve(
    a: Array, b: Array, *, left: bool = True, check_errors: bool = False
) -> tuple[Array, Array, Array, Array]:  # fmt: skip
    """X of A X = B or X A = B, with LU, pivots and info. B may be a vector, or a stack of them."""
    del check_errors
    factors, pivots, info = lu_factor(a)
    vector = b.ndim == 1 or (a.ndim - 1 == b.ndim and b.shape == a.shape[:-1])
    x = _lu_solve(factors, pivots, b[..., None] if vector else b, left=left)
    return x[..., 0] if vector else x, factors, pivots, info


@lowering("aten.cholesky_solve.default", "aten._cholesky_solve_helper.default", dtypes=FACTORABLE)
def _cholesky_solve(b: Array, factor: Array, upper: bool) -> Array:
    """X of A X = B, A given by its Cholesky factor."""
    first = _solve_triangle(factor, b, upper=upper, adjoint_a=upper)
    return _solve_triangle(factor, first, upper=upper, adjoint_a=not upper)


@lowering("aten.cholesky_inverse.default", dtypes=FACTORABLE)
def _cholesky_inverse(factor: Array, upper: bool = False) -> Array:
    return _cholesky_solve(jnp.eye(factor.shape[-1], dtype=factor.dtype), factor, upper)


@lowering("aten.ormqr.default", dtypes=FACTORABLE)
def _ormqr(vectors: Array, factors: Array, other: Array, left: bool = True, transpose: bool = False) -> Array:
    """Q C, C Q or the same with Q's adjoint, Q given by its reflections."""
    if other.size == 0 or factors.shape[-1] == 0:
        return other
    return lax.linalg.ormqr(vectors, factors, other, left=left, transpose=transpose)
