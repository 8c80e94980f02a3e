"""Factorizations of matrices: NumPy's LAPACK where it has them, else column by column for a whole batch."""

# Signatures are ATen's, also where an argument does not matter here.
# ruff: noqa: ARG001
# To mypy, arithmetic on arrays of any dtype is Any.
# mypy: disable-error-code="no-any-return"

from __future__ import annotations

import numpy as np
from lazycore_plugin_api import Node

from lazycore_reference.lowerings.triangular import adjoint, lu_solve, transposed
from lazycore_reference.registry import Array, lowering


def unchecked(node: Node) -> str | None:
    """Only factorizations that report failure in their ``info`` result are taken, none that must raise."""
    return f"{node.op} that raises" if node.kwargs.get("check_errors") else None


def _first(bad: Array, info: Array, step: int) -> Array:
    return np.where((info == 0) & bad, step + 1, info)


@lowering("aten.linalg_lu_factor_ex.default", objection=unchecked)
def lu_factor(x: Array, *, pivot: bool = True, check_errors: bool = False) -> tuple[Array, Array, Array]:
    """Both factors in one matrix, the row exchanges (1-based), and where the first zero pivot stands (0: nowhere)."""
    lu = x.copy()
    rows, columns = x.shape[-2:]
    least = min(rows, columns)
    pivots = np.broadcast_to(np.arange(1, least + 1, dtype=np.int32), (*x.shape[:-2], least)).copy()
    info = np.zeros(x.shape[:-2], np.int32)
    for i in range(least):
        if pivot:
            _exchange(lu, pivots, i)
        head = lu[..., i, i]
        info = _first(head == 0, info, i)
        divisor = np.where(head == 0, lu.dtype.type(1), head)[..., None]
        lu[..., i + 1 :, i] /= divisor
        lu[..., i + 1 :, i + 1 :] -= lu[..., i + 1 :, i, None] * lu[..., i, None, i + 1 :]
    return lu, pivots, np.asarray(info)


def _exchange(lu: Array, pivots: Array, i: int) -> None:
    """Bring the row whose element in column i is largest to row i."""
    below = lu[..., i:, i]
    size = np.abs(below.real) + np.abs(below.imag) if lu.dtype.kind == "c" else np.abs(below)
    chosen = np.argmax(size, axis=-1)[..., None] + i
    pivots[..., i : i + 1] = chosen + 1
    index = np.broadcast_to(chosen[..., None], (*lu.shape[:-2], 1, lu.shape[-1]))
    moved, own = np.take_along_axis(lu, index, -2), lu[..., i : i + 1, :].copy()
    np.put_along_axis(lu, index, own, -2)
    lu[..., i : i + 1, :] = moved


@lowering("aten.linalg_inv_ex.default", objection=unchecked)
def inverse(x: Array, *, check_errors: bool = False) -> tuple[Array, Array]:
    """The inverse, and where the first zero pivot stands."""
    lu, pivots, info = lu_factor(x)
    identity = np.broadcast_to(np.eye(x.shape[-1], dtype=x.dtype), x.shape)
    return lu_solve(lu, pivots, identity), info


@lowering("aten.linalg_cholesky_ex.default", objection=unchecked)
def cholesky(x: Array, *, upper: bool = False, check_errors: bool = False) -> tuple[Array, Array]:
    """The lower or upper factor, and the size of the first leading block that is not positive definite."""
    # Only one triangle is looked at: the one that holds the factor.
    low = adjoint(np.triu(x)).copy() if upper else np.tril(x)
    info = np.zeros(x.shape[:-2], np.int32)
    for i in range(x.shape[-1]):
        row = low[..., i, :i]
        rest = low[..., i, i].real - np.sum(np.square(np.abs(row)), axis=-1)
        info = _first(~(rest > 0), info, i)
        head = np.sqrt(np.where(info == 0, rest, 1))
        low[..., i, i] = head
        products = np.matmul(low[..., i + 1 :, :i], np.conjugate(row)[..., None])[..., 0]
        low[..., i + 1 :, i] = (low[..., i + 1 :, i] - products) / head[..., None]
    return (adjoint(low) if upper else low), np.asarray(info)


@lowering("aten.linalg_qr.default")
def qr(x: Array, mode: str = "reduced") -> tuple[Array | None, Array]:
    """An orthogonal and an upper triangular factor; mode ``r`` leaves the first one out."""
    if mode == "r":
        return None, np.linalg.qr(x, mode="r")
    q, r = np.linalg.qr(x, mode="complete" if mode == "complete" else "reduced")
    return q, r


@lowering("aten._linalg_svd.default")
def svd(
    x: Array, full_matrices: bool = False, compute_uv: bool = True, *, driver: str | None = None
) -> tuple[Array | None, Array, Array | None]:
    """Left vectors, singular values in descending order, right vectors as rows."""
    if not compute_uv:
        return None, np.linalg.svd(x, compute_uv=False), None
    u, s, vh = np.linalg.svd(x, full_matrices=full_matrices)
    return u, s, vh


@lowering("aten._linalg_eigh.default")
def eigh(x: Array, uplo: str = "L", compute_v: bool = True) -> tuple[Array, Array | None]:
    """Eigenvalues in ascending order and vectors of a Hermitian matrix, of which one triangle is looked at."""
    triangle = "L" if uplo.upper() == "L" else "U"
    if not compute_v:
        return np.linalg.eigvalsh(x, triangle), None
    values, vectors = np.linalg.eigh(x, triangle)
    return values, vectors


@lowering("aten.linalg_eig.default")
def eig(x: Array) -> tuple[Array, Array]:
    """Eigenvalues and vectors, complex."""
    values, vectors = np.linalg.eig(x)
    return values, vectors


@lowering("aten._linalg_eigvals.default")
def eigvals(x: Array) -> Array:
    """Eigenvalues, complex."""
    return np.linalg.eigvals(x)


@lowering("aten.geqrf.default")
def geqrf(x: Array) -> tuple[Array, Array]:
    """A QR factorization as LAPACK leaves it: R above, reflectors below, and their factors."""
    h, tau = np.linalg.qr(x, mode="raw")
    return transposed(h), tau


def _reflector(h: Array, tau: Array, i: int) -> tuple[Array, Array]:
    v = h[..., :, i].copy()
    v[..., :i] = 0
    v[..., i] = 1
    return v, tau[..., i, None, None]


def _reflect(v: Array, factor: Array, x: Array) -> Array:
    return x - factor * v[..., :, None] * np.matmul(np.conjugate(v)[..., None, :], x)


@lowering("aten.linalg_householder_product.default")
def householder_product(h: Array, tau: Array) -> Array:
    """The first columns of the product of reflectors."""
    rows, columns = h.shape[-2:]
    q = np.broadcast_to(np.eye(rows, columns, dtype=h.dtype), h.shape).copy()
    for i in range(tau.shape[-1] - 1, -1, -1):
        q = _reflect(*_reflector(h, tau, i), q)
    return q


@lowering("aten.ormqr.default")
def ormqr(h: Array, tau: Array, other: Array, left: bool = True, transpose: bool = False) -> Array:
    """The product of reflectors, or its adjoint, times a matrix from the left or the right."""
    if not left:
        return adjoint(ormqr(h, tau, adjoint(other), True, not transpose))
    order = range(tau.shape[-1]) if transpose else range(tau.shape[-1] - 1, -1, -1)
    for i in order:
        v, factor = _reflector(h, tau, i)
        other = _reflect(v, np.conjugate(factor) if transpose else factor, other)
    return other
