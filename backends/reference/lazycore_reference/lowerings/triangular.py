"""Systems with triangular matrices, and those that a factorization turns into such. Matrices are the last two
dimensions, batches broadcast."""

# To mypy, arithmetic on arrays of any dtype is Any.
# mypy: disable-error-code="no-any-return"

from __future__ import annotations

import numpy as np

from lazycore_reference.registry import Array, lowering


def transposed(x: Array) -> Array:
    """Rows and columns exchanged."""
    return np.swapaxes(x, -1, -2)


def adjoint(x: Array) -> Array:
    """Rows and columns exchanged, conjugated."""
    return np.conjugate(transposed(x))


def _batch(*arrays: Array) -> list[Array]:
    shape = np.broadcast_shapes(*(a.shape[:-2] for a in arrays))
    return [np.broadcast_to(a, (*shape, *a.shape[-2:])) for a in arrays]


def substitute(a: Array, b: Array, upper: bool, unit: bool = False) -> Array:
    """The solution x of a @ x = b by substitution; a singular ``a`` gives infinities and NaNs."""
    a, b = _batch(a, b)
    x = b.copy()
    n = a.shape[-1]
    for i in range(n - 1, -1, -1) if upper else range(n):
        known = slice(i + 1, n) if upper else slice(0, i)
        row = x[..., i, :] - np.matmul(a[..., i : i + 1, known], x[..., known, :])[..., 0, :]
        x[..., i, :] = row if unit else row / a[..., i, i, None]
    return x


@lowering("aten.linalg_solve_triangular.default")
def solve_triangular(a: Array, b: Array, *, upper: bool, left: bool = True, unitriangular: bool = False) -> Array:
    """The solution of a @ x = b, or of x @ a = b where ``left`` is not set."""
    if left:
        return substitute(a, b, upper, unitriangular)
    return transposed(substitute(transposed(a), transposed(b), not upper, unitriangular))


def permutation(pivots: Array, rows: int) -> Array:
    """The order of rows that a sequence of exchanges (1-based, as LAPACK counts) leads to."""
    order = np.broadcast_to(np.arange(rows), (*pivots.shape[:-1], rows)).copy()
    for i in range(pivots.shape[-1]):
        other = pivots[..., i : i + 1].astype(np.int64) - 1
        moved = np.take_along_axis(order, other, -1)
        np.put_along_axis(order, other, order[..., i : i + 1].copy(), -1)
        order[..., i : i + 1] = moved
    return order


def _ordered(x: Array, order: Array) -> Array:
    return np.take_along_axis(*_batch(x, np.broadcast_to(order[..., None], (*order.shape, x.shape[-1]))), axis=-2)


@lowering("aten.linalg_lu_solve.default")
def lu_solve(lu: Array, pivots: Array, b: Array, *, left: bool = True, adjoint: bool = False) -> Array:
    """The solution of a system whose matrix is given by its factors; ``adjoint``: of its conjugate transpose."""
    if not left:
        flipped = lu_solve(lu, pivots, transposed(np.conjugate(b)), left=True, adjoint=not adjoint)
        return transposed(np.conjugate(flipped))
    order = permutation(pivots, lu.shape[-1])
    if not adjoint:
        return substitute(lu, substitute(lu, _ordered(b, order), upper=False, unit=True), upper=True)
    factors = np.conjugate(transposed(lu))
    x = substitute(factors, substitute(factors, b, upper=False), upper=True, unit=True)
    return _ordered(x, np.argsort(order, axis=-1))


@lowering("aten.lu_unpack.default")
def lu_unpack(
    lu: Array, pivots: Array, unpack_data: bool = True, unpack_pivots: bool = True
) -> tuple[Array | None, Array | None, Array | None]:
    """The permutation matrix and both factors of a compact factorization, each where it is asked for."""
    rows, columns = lu.shape[-2:]
    least = min(rows, columns)
    p = low = up = None
    if unpack_pivots:
        order = permutation(pivots, rows)
        p = transposed(np.eye(rows, dtype=lu.dtype)[order])
    if unpack_data:
        low = np.tril(lu[..., :, :least], -1) + np.eye(rows, least, dtype=lu.dtype)
        up = np.triu(lu[..., :least, :])
    return p, low, up
