"""Factorizations of matrices: NumPy's LAPACK where it has them, else column by column for a whole batch."""

# Signatures are ATen's, also where an argument does not matter here.
# ruff: noqa: ARG001
# To mypy, arithmetic on arrays of any dtype is Any.
# mypy: disable-error-code="no-any-return"

from __future__ import annotations

import numpy as np
from lazycore_plugin_api import HostArray, Node

from lazycore_tvm.lowerings.triangular import MATRICES, lu_solve, transposed
from lazycore_tvm.registry import lowering

__all__: list[str] = []


def unchecked(node: Node) -> str | None:
    """Only factorizations that report failure in their ``info`` result are taken, none that must raise."""
    return "one that raises" if node.kwargs.get("check_errors") else None


def _first(bad: HostArray, info: HostArray, step: int) -> HostArray:
    return np.where((info == 0) & bad, step + 1, info)


@lowering("linalg_lu_factor_ex", check=unchecked, **MATRICES)
def lu_factor(
    x: HostArray, *, pivot: bool = True, check_errors: bool = False
) -> tuple[HostArray, HostArray, HostArray]:
    """Both factors in one matrix, the row exchanges (1-based), and where the first zero pivot stands (0: nowhere)."""
    lu = x.copy()
    least = min(x.shape[-2:])
    pivots = np.broadcast_to(np.arange(1, least + 1, dtype=np.int32), (*x.shape[:-2], least)).copy()
    info = np.zeros(x.shape[:-2], np.int32)
    for i in range(least):
        if pivot:
            _exchange(lu, pivots, i)
        head = lu[..., i, i]
        info = _first(head == 0, info, i)
        lu[..., i + 1 :, i] /= np.where(head == 0, lu.dtype.type(1), head)[..., None]
        lu[..., i + 1 :, i + 1 :] -= lu[..., i + 1 :, i, None] * lu[..., i, None, i + 1 :]
    return lu, pivots, np.asarray(info)


def _exchange(lu: HostArray, pivots: HostArray, i: int) -> None:
    """Bring the row whose element in column i is largest to row i."""
    chosen = np.argmax(np.abs(lu[..., i:, i]), axis=-1)[..., None] + i
    pivots[..., i : i + 1] = chosen + 1
    index = np.broadcast_to(chosen[..., None], (*lu.shape[:-2], 1, lu.shape[-1]))
    moved, own = np.take_along_axis(lu, index, -2), lu[..., i : i + 1, :].copy()
    np.put_along_axis(lu, index, own, -2)
    lu[..., i : i + 1, :] = moved


@lowering("linalg_inv_ex", check=unchecked, **MATRICES)
def inverse(x: HostArray, *, check_errors: bool = False) -> tuple[HostArray, HostArray]:
    """The inverse, and where the first zero pivot stands."""
    lu, pivots, info = lu_factor(x)
    return lu_solve(lu, pivots, np.broadcast_to(np.eye(x.shape[-1], dtype=x.dtype), x.shape)), info


@lowering("linalg_cholesky_ex", check=unchecked, **MATRICES)
def cholesky(x: HostArray, *, upper: bool = False, check_errors: bool = False) -> tuple[HostArray, HostArray]:
    """The lower or upper factor, and the size of the first leading block that is not positive definite."""
    # Only one triangle is looked at: the one that holds the factor.
    low = transposed(np.triu(x)).copy() if upper else np.tril(x)
    info = np.zeros(x.shape[:-2], np.int32)
    for i in range(x.shape[-1]):
        row = low[..., i, :i]
        rest = low[..., i, i] - np.sum(np.square(row), axis=-1)
        info = _first(~(rest > 0), info, i)
        head = np.sqrt(np.where(info == 0, rest, 1))
        low[..., i, i] = head
        products = np.matmul(low[..., i + 1 :, :i], row[..., None])[..., 0]
        low[..., i + 1 :, i] = (low[..., i + 1 :, i] - products) / head[..., None]
    return (transposed(low) if upper else low), np.asarray(info)


@lowering("linalg_qr", **MATRICES)
def qr(x: HostArray, mode: str = "reduced") -> tuple[HostArray | None, HostArray]:
    """An orthogonal and an upper triangular factor; mode ``r`` leaves the first one out."""
    if mode == "r":
        return None, np.linalg.qr(x, mode="r")
    q, r = np.linalg.qr(x, mode="complete" if mode == "complete" else "reduced")
    return q, r


@lowering("_linalg_svd", **MATRICES)
def svd(
    x: HostArray, full_matrices: bool = False, compute_uv: bool = True, *, driver: str | None = None
) -> tuple[HostArray | None, HostArray, HostArray | None]:
    """Left vectors, singular values in descending order, right vectors as rows."""
    if not compute_uv:
        return None, np.linalg.svd(x, compute_uv=False), None
    u, s, vh = np.linalg.svd(x, full_matrices=full_matrices)
    return u, s, vh


@lowering("_linalg_eigh", **MATRICES)
def eigh(x: HostArray, uplo: str = "L", compute_v: bool = True) -> tuple[HostArray, HostArray | None]:
    """Eigenvalues in ascending order and vectors of a symmetric matrix, of which one triangle is looked at."""
    triangle = "L" if uplo.upper() == "L" else "U"
    if not compute_v:
        return np.linalg.eigvalsh(x, triangle), None
    values, vectors = np.linalg.eigh(x, triangle)
    return values, vectors


@lowering("geqrf", **MATRICES)
def geqrf(x: HostArray) -> tuple[HostArray, HostArray]:
    """A QR factorization as LAPACK leaves it: R above, reflectors below, and their factors."""
    h, tau = np.linalg.qr(x, mode="raw")
    return transposed(h), tau


def _reflected(h: HostArray, tau: HostArray, i: int, x: HostArray) -> HostArray:
    """x mirrored by the i-th reflector."""
    v = h[..., :, i].copy()
    v[..., :i] = 0
    v[..., i] = 1
    return x - tau[..., i, None, None] * v[..., :, None] * np.matmul(v[..., None, :], x)


@lowering("linalg_householder_product", **MATRICES)
def householder_product(h: HostArray, tau: HostArray) -> HostArray:
    """The first columns of the product of reflectors."""
    rows, columns = h.shape[-2:]
    q = np.broadcast_to(np.eye(rows, columns, dtype=h.dtype), h.shape).copy()
    for i in range(tau.shape[-1] - 1, -1, -1):
        q = _reflected(h, tau, i, q)
    return q


@lowering("ormqr", **MATRICES)
def ormqr(h: HostArray, tau: HostArray, other: HostArray, left: bool = True, transpose: bool = False) -> HostArray:
    """The product of reflectors, or its transpose, times a matrix from the left or the right."""
    if not left:
        return transposed(ormqr(h, tau, transposed(other), True, not transpose))
    for i in range(tau.shape[-1]) if transpose else range(tau.shape[-1] - 1, -1, -1):
        other = _reflected(h, tau, i, other)
    return other
