"""Systems with triangular matrices, and those that a factorization turns into such, by NumPy. Matrices are the last two
dimensions, batches broadcast."""

# To mypy, arithmetic on arrays of any dtype is Any.
# mypy: disable-error-code="no-any-return"

from __future__ import annotations

from typing import Any

import numpy as np
from lazycore_plugin_api import DType, HostArray

from lazycore_tvm.registry import Kind, lowering

__all__ = ["MATRICES", "lu_solve", "transposed"]

MATRICES: dict[str, Any] = {
    "kind": Kind.host,
    "dtypes": frozenset({DType.float32, DType.float64, DType.int32}),
}
"""Single and double precision, and the integers that count row exchanges and failures."""


def transposed(x: HostArray) -> HostArray:
    """Rows and columns exchanged."""
    return np.swapaxes(x, -1, -2)


def _batch(*arrays: HostArray) -> list[HostArray]:
    shape = np.broadcast_shapes(*(a.shape[:-2] for a in arrays))
    return [np.broadcast_to(a, (*shape, *a.shape[-2:])) for a in arrays]


def _substituted(a: HostArray, b: HostArray, upper: bool, unit: bool = False) -> HostArray:
    """The solution x of a @ x = b row by row; a singular ``a`` gives infinities and NaNs."""
    a, b = _batch(a, b)
    x = b.copy()
    n = a.shape[-1]
    for i in range(n - 1, -1, -1) if upper else range(n):
        known = slice(i + 1, n) if upper else slice(0, i)
        row = x[..., i, :] - np.matmul(a[..., i : i + 1, known], x[..., known, :])[..., 0, :]
        x[..., i, :] = row if unit else row / a[..., i, i, None]
    return x


@lowering("linalg_solve_triangular", **MATRICES)
def solve_triangular(
    a: HostArray, b: HostArray, *, upper: bool, left: bool = True, unitriangular: bool = False
) -> HostArray:
    """The solution of a @ x = b, or of x @ a = b where ``left`` is not set."""
    if left:
        return _substituted(a, b, upper, unitriangular)
    return transposed(_substituted(transposed(a), transposed(b), not upper, unitriangular))


@lowering("triangular_solve", **MATRICES)
def triangular_solve(
    b: HostArray, a: HostArray, upper: bool = True, transpose: bool = False, unitriangular: bool = False
) -> tuple[HostArray, HostArray]:
    """The solution of a @ x = b, or with the transpose of ``a``; and ``a`` for the batch."""
    matrix = np.triu(a) if upper else np.tril(a)
    solved = _substituted(transposed(matrix) if transpose else matrix, b, upper != transpose, unitriangular)
    return solved, np.broadcast_to(a, (*solved.shape[:-2], *a.shape[-2:]))


@lowering("cholesky_solve", "_cholesky_solve_helper", **MATRICES)
def cholesky_solve(b: HostArray, factor: HostArray, upper: bool = False) -> HostArray:
    """The solution of a system whose matrix is given by its Cholesky factor."""
    low = transposed(np.triu(factor)) if upper else np.tril(factor)
    return _substituted(transposed(low), _substituted(low, b, False), True)


@lowering("cholesky_inverse", **MATRICES)
def cholesky_inverse(factor: HostArray, upper: bool = False) -> HostArray:
    """The inverse of a matrix that is given by its Cholesky factor."""
    return cholesky_solve(np.broadcast_to(np.eye(factor.shape[-1], dtype=factor.dtype), factor.shape), factor, upper)


def _order(pivots: HostArray, rows: int) -> HostArray:
    """The order of rows that a sequence of exchanges (1-based, as LAPACK counts) leads to."""
    order = np.broadcast_to(np.arange(rows), (*pivots.shape[:-1], rows)).copy()
    for i in range(pivots.shape[-1]):
        other = pivots[..., i : i + 1].astype(np.int64) - 1
        moved = np.take_along_axis(order, other, -1)
        np.put_along_axis(order, other, order[..., i : i + 1].copy(), -1)
        order[..., i : i + 1] = moved
    return order


def _ordered(x: HostArray, order: HostArray) -> HostArray:
    rows = np.broadcast_to(order[..., None], (*order.shape, x.shape[-1]))
    return np.take_along_axis(*_batch(x, rows), axis=-2)


@lowering("linalg_lu_solve", **MATRICES)
def lu_solve(lu: HostArray, pivots: HostArray, b: HostArray, *, left: bool = True, adjoint: bool = False) -> HostArray:
    """The solution of a system whose matrix is given by its factors; ``adjoint``: of its transpose."""
    if not left:
        return transposed(lu_solve(lu, pivots, transposed(b), left=True, adjoint=not adjoint))
    order = _order(pivots, lu.shape[-1])
    if not adjoint:
        return _substituted(lu, _substituted(lu, _ordered(b, order), upper=False, unit=True), upper=True)
    factors = transposed(lu)
    x = _substituted(factors, _substituted(factors, b, upper=False), upper=True, unit=True)
    return _ordered(x, np.argsort(order, axis=-1))


@lowering("lu_unpack", **MATRICES)
def lu_unpack(
    lu: HostArray, pivots: HostArray, unpack_data: bool = True, unpack_pivots: bool = True
) -> tuple[HostArray | None, HostArray | None, HostArray | None]:
    """The permutation matrix and both factors of a compact factorization, each where it is asked for."""
    rows, columns = lu.shape[-2:]
    least = min(rows, columns)
    p = transposed(np.eye(rows, dtype=lu.dtype)[_order(pivots, rows)]) if unpack_pivots else None
    if not unpack_data:
        return p, None, None
    low = np.tril(lu[..., :, :least], -1) + np.eye(rows, least, dtype=lu.dtype)
    return p, low, np.triu(lu[..., :least, :])
