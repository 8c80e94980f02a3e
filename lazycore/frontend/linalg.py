"""Linear algebra that torch composes of a factorization and solves, inside one op of a device.

Composed here rather than by a backend, because the autograd formulas rely on what the CPU's kernels do: for the
determinant of a contiguous real matrix they factorize the transpose, which is what LAPACK sees without a copy.
"""

from __future__ import annotations

from typing import Any

import torch

from lazycore.frontend.copies import to_cpu
from lazycore.frontend.guard import guard
from lazycore.frontend.kernels import recorded
from lazycore.frontend.storage import is_ours

__all__ = ["LINALG"]

aten = torch.ops.aten
Tensors = tuple[torch.Tensor, ...]


def _factorized(a: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """LU and pivots of the matrix or its transpose, which have one determinant."""
    flip = a.is_contiguous() and not a.is_complex()
    lu, pivots, _ = aten.linalg_lu_factor_ex.default(a.mT if flip else a)
    return lu, pivots


def _parity(pivots: torch.Tensor) -> torch.Tensor:
    """1 or -1: whether the number of row exchanges is even."""
    places = torch.arange(1, pivots.shape[-1] + 1, dtype=pivots.dtype, device=pivots.device)
    odd = (pivots != places).sum(-1) % 2
    return 1 - 2 * odd


def _square(a: torch.Tensor, name: str) -> None:
    torch._check(a.dim() >= 2, lambda: f"{name}: The input tensor A must have at least 2 dimensions.")
    torch._check(
        a.shape[-1] == a.shape[-2],
        lambda: f"{name}: A must be batches of square matrices, but they are {a.shape[-2]} by {a.shape[-1]} matrices",
    )


def _inexact(a: torch.Tensor, op: Any) -> None:
    """Raise what the CPU raises of a dtype that LAPACK does not compute."""
    if a.dtype not in _LAPACK:
        op(torch.ones((1,) * a.dim(), dtype=a.dtype, device="cpu"))


_LAPACK = frozenset((torch.float32, torch.float64, torch.complex64, torch.complex128))


def det(a: torch.Tensor) -> Tensors:
    """``aten::_linalg_det`` -> determinant, LU, pivots."""
    _square(a, "linalg.det")
    _inexact(a, aten._linalg_det.default)
    lu, pivots = _factorized(a)
    return lu.diagonal(0, -2, -1).prod(-1) * _parity(pivots), lu, pivots


def slogdet(a: torch.Tensor) -> Tensors:
    """``aten::_linalg_slogdet`` -> sign, logarithm of the absolute value, LU, pivots."""
    _square(a, "linalg.slogdet")
    _inexact(a, aten._linalg_slogdet.default)
    lu, pivots = _factorized(a)
    diagonal = lu.diagonal(0, -2, -1)
    return diagonal.sgn().prod(-1) * _parity(pivots), diagonal.abs().log().sum(-1), lu, pivots


def _is_vector(a: torch.Tensor, b: torch.Tensor) -> bool:
    return b.dim() == 1 or (a.dim() - 1 == b.dim() and b.shape == a.shape[:-1])


def solve_ex(a: torch.Tensor, b: torch.Tensor, *, left: bool = True, check_errors: bool = False) -> Tensors:
    """``aten::_linalg_solve_ex`` -> solution, LU, pivots, info."""
    like = aten._linalg_solve_ex.default(_meta(a), _meta(b), left=left)  # its checks
    vector = _is_vector(a, b)
    lu, pivots, info = aten.linalg_lu_factor_ex.default(a)
    if check_errors:
        check(info, "torch.linalg.solve_ex", is_matrix=a.dim() == 2)
    wide = b.unsqueeze(-1) if vector else b
    x = aten.linalg_lu_solve.default(lu, pivots, wide, left=left)
    x = x.squeeze(-1) if vector else x
    return x.expand(like[0].shape), lu, pivots, info


def _meta(x: torch.Tensor) -> torch.Tensor:
    return torch.empty_strided(x.shape, x.stride(), dtype=x.dtype, device="meta")


def cholesky(a: torch.Tensor, upper: bool = False) -> torch.Tensor:
    """``aten::cholesky``."""
    if a.dim() > 1:
        _inexact(a, aten.cholesky.default)
    factor, info = aten.linalg_cholesky_ex.default(a, upper=upper)
    check(info, "cholesky", is_matrix=a.dim() == 2)
    return factor


def check(info: torch.Tensor, api_name: Any, *, is_matrix: bool) -> None:
    """``aten::_linalg_check_errors``: reads the info, which is an observation."""
    aten._linalg_check_errors.default(to_cpu(info) if is_ours(info) else info, api_name, is_matrix=is_matrix)


def _finite(a: torch.Tensor, message: str, error: type[Exception]) -> torch.Tensor:
    """The matrices, or zeros and an error at the next observation: LAPACK crashes on some that are not finite."""
    finite = aten.isfinite.default(a)
    guard(finite, message, error)
    return aten.where.self(aten.all.default(finite), a, torch.zeros((), dtype=a.dtype, device=a.device))


def svd(a: torch.Tensor, full_matrices: bool = False, compute_uv: bool = True, *, driver: str | None = None) -> Tensors:
    """``aten::_linalg_svd``."""
    message = "linalg.svd: The algorithm failed to converge because the input matrix contained non-finite values."
    finite = _finite(a, message, torch.linalg.LinAlgError)
    return recorded(aten._linalg_svd.default)(finite, full_matrices, compute_uv, driver=driver)  # type: ignore[no-any-return]


def eigh(a: torch.Tensor, uplo: str = "L", compute_v: bool = True) -> Tensors:
    """``aten::_linalg_eigh``."""
    message = "linalg.eigh: The algorithm failed to converge because the input matrix contained non-finite values."
    finite = _finite(a, message, torch.linalg.LinAlgError)
    return recorded(aten._linalg_eigh.default)(finite, uplo, compute_v)  # type: ignore[no-any-return]


_NOT_FINITE = "torch.linalg.eig: input tensor should not contain infs or NaNs."


def eig(a: torch.Tensor) -> Tensors:
    """``aten::linalg_eig``."""
    return recorded(aten.linalg_eig.default)(_finite(a, _NOT_FINITE, RuntimeError))  # type: ignore[no-any-return]


def eigvals(a: torch.Tensor) -> torch.Tensor:
    """``aten::_linalg_eigvals``."""
    return recorded(aten._linalg_eigvals.default)(_finite(a, _NOT_FINITE, RuntimeError))  # type: ignore[no-any-return]


LINALG = {
    "_linalg_svd": svd,
    "_linalg_eigh": eigh,
    "linalg_eig": eig,
    "_linalg_eigvals": eigvals,
    "_linalg_det": det,
    "_linalg_slogdet": slogdet,
    "_linalg_solve_ex": solve_ex,
    "_linalg_check_errors": check,
    "cholesky": cholesky,
}
