"""Linear algebra and Fourier transforms. Factors that are unique up to signs are left to cases that recompose them."""

from __future__ import annotations

from collections.abc import Iterator

from lazycore_plugin_api import DType

from lazycore.conformance.graph.draw import SPD, G, P, X
from lazycore.conformance.graph.row import FULL, WITH_COMPLEX, Row, row, rows

__all__ = ["LINEAR"]

_COMPLEX = WITH_COMPLEX[2:]


def _products() -> Iterator[Row]:
    yield row("mm", X(3, 5), X(5, 4))
    yield row("mm", X(3, 5), X(5, 4), dtypes=_COMPLEX)
    yield row("mm", X(3, 0), X(0, 4), odd=True)
    yield row("bmm", X(2, 3, 5), X(2, 5, 4))
    yield row("vdot", X(5), X(5), dtypes=WITH_COMPLEX)
    yield row("mv", X(3, 5), X(5))
    yield row("dot", X(5), X(5))
    for beta, alpha in ((1, 1), (0.5, -2)):
        yield row("addmm", X(3, 4), X(3, 5), X(5, 4), beta=beta, alpha=alpha)
        yield row("addmm", X(4), X(3, 5), X(5, 4), beta=beta, alpha=alpha)
        yield row("baddbmm", X(2, 3, 4), X(2, 3, 5), X(2, 5, 4), beta=beta, alpha=alpha)
        yield row("addbmm", X(3, 4), X(2, 3, 5), X(2, 5, 4), beta=beta, alpha=alpha)
        yield row("addmv", X(3), X(3, 5), X(5), beta=beta, alpha=alpha)
        yield row("addr", X(3, 4), X(3), X(4), beta=beta, alpha=alpha)


def _grouped() -> Iterator[Row]:
    ends = G(2, 5, dtype=DType.int32)
    yield row("_grouped_mm", X(5, 16), X(2, 16, 8), ends, dtypes=(DType.bfloat16,))
    yield row("_trilinear", X(3, 4), X(2, 4, 5), X(3, 5), [1, 3], [0], [1, 2], [2, 3], dtypes=FULL)


def _solving() -> Iterator[Row]:
    yield row("linalg_cholesky_ex", SPD(4, 2), dtypes=FULL)
    yield row("linalg_inv_ex", SPD(4, 2), dtypes=FULL)
    yield row("linalg_lu_factor_ex", SPD(4), dtypes=FULL)
    yield row("linalg_lu", SPD(4), dtypes=FULL)
    yield row("_linalg_solve_ex", SPD(4), X(4, 2), dtypes=FULL)
    yield row("linalg_solve_triangular", SPD(4), X(4, 2), upper=True, dtypes=FULL)
    yield row("linalg_solve_triangular", SPD(4), X(4, 2), upper=False, unitriangular=True, dtypes=FULL)
    yield row("triangular_solve", X(4, 2), SPD(4), dtypes=FULL)
    yield from rows("cholesky_solve", X(4, 2), SPD(4), dtypes=FULL)
    yield row("_cholesky_solve_helper", X(4, 2), SPD(4), False, dtypes=FULL)
    yield row("cholesky_inverse", SPD(4), dtypes=FULL)
    pivots = G(2, 2, 4, 4, dtype=DType.int32)
    yield row("lu_unpack", SPD(4), pivots, dtypes=FULL)
    yield row("linalg_lu_solve", SPD(4), pivots, X(4, 2), dtypes=FULL)
    yield row("linalg_qr", X(4, 3), dtypes=FULL)
    yield row("geqrf", X(4, 3), dtypes=FULL)
    reflectors = (X(4, 3), X(3, low=0.2, high=0.6))
    yield row("linalg_householder_product", *reflectors, dtypes=FULL)
    yield row("ormqr", *reflectors, X(4, 2), dtypes=FULL)
    yield row("linalg_eig", SPD(4), vague=(0, 1), dtypes=FULL)
    yield from rows("_linalg_eigvals linalg_eigvals", SPD(4), vague=(0,), dtypes=FULL)
    yield row("_linalg_eigh", SPD(4), "L", False, vague=(1,), dtypes=FULL)
    yield row("_linalg_svd", X(4, 3), False, False, vague=(0, 2), dtypes=FULL)


def _transforms() -> Iterator[Row]:
    for normalization in (0, 2):
        yield row("_fft_r2c", X(3, 8), [1], normalization, True, dtypes=FULL)
        yield row("_fft_c2c", X(3, 6), [0, 1], normalization, True, dtypes=_COMPLEX)
        yield row("_fft_c2c", X(3, 6), [1], normalization, False, dtypes=_COMPLEX)
        yield row("_fft_c2r", X(3, 5), [1], normalization, 8, dtypes=_COMPLEX)


def _distances() -> Iterator[Row]:
    for p in (1.0, 2.0, float("inf")):
        yield row("_cdist_forward", X(3, 4), X(5, 4), p, None, dtypes=FULL)
        yield row("_cdist_backward", X(3, 5), X(3, 4), X(5, 4), p, P(3, 5), dtypes=FULL)
        yield row("_pdist_backward", X(6), P(4, 3), p, P(6), dtypes=FULL)
        yield row("_pdist_forward", P(4, 3), p, dtypes=FULL)


LINEAR = [*_products(), *_grouped(), *_solving(), *_transforms(), *_distances()]
