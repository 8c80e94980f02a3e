"""Factorizations, linear systems and inverses of stacks of matrices."""

from __future__ import annotations

import torch

from lowering.case import ACCUMULATED, Case, case
from lowering.samples import floats


def _regular(*batch: int, size: int = 3, dtype: torch.dtype = torch.float64, seed: int = 0) -> torch.Tensor:
    """Matrices that are far from singular."""
    noise = floats(*batch, size, size, dtype=torch.float64, low=-1, high=1, seed=seed)
    return (noise + 3 * torch.eye(size, dtype=torch.float64)).to(dtype)


def _positive(*batch: int, size: int = 3, seed: int = 0) -> torch.Tensor:
    root = _regular(*batch, size=size, seed=seed)
    return root @ root.mT


def _complex(x: torch.Tensor, seed: int = 9) -> torch.Tensor:
    return torch.complex(x, floats(*x.shape, dtype=x.dtype, low=-1, high=1, seed=seed))


def _indefinite() -> torch.Tensor:
    """Of the two matrices only the second has a negative leading minor, of order 2."""
    second = torch.eye(3, dtype=torch.float64)
    second[1, 1] = -1
    return torch.stack((torch.eye(3, dtype=torch.float64), second))


_SQUARE = [
    _regular(),
    _regular(2),
    _regular(2, 2, size=2),
    _regular(dtype=torch.float32),
    _complex(_regular(2)),
    torch.zeros(0, 3, 3),
    torch.zeros(2, 0, 0),
]
_TALL = [floats(4, 3, dtype=torch.float64), floats(2, 3, 4, dtype=torch.float64), _complex(floats(2, 4, 3).double())]
_NOTHING = [torch.zeros(2, 3, 0), torch.zeros(2, 0, 3), torch.zeros(0, 3, 2)]


def _lu(op: str) -> list[Case]:
    return [case(op, x, tolerance=ACCUMULATED) for x in (*_SQUARE, *_TALL, *_NOTHING)]


def _solutions() -> list[Case]:
    """Right and left sides, from either factors, of the matrix and of its adjoint, batches broadcast."""
    cases = []
    for a, b in ((_regular(2), floats(3, 2).double()), (_complex(_regular(2)), _complex(floats(2, 3, 2).double()))):
        factors, pivots, _ = torch.linalg.lu_factor_ex(a)
        for adjoint in (False, True):
            for left in (False, True):
                side = b if left else b.mT.contiguous()
                flags = {"left": left, "adjoint": adjoint}
                cases.append(
                    case("aten.linalg_lu_solve.default", factors, pivots, side, tolerance=ACCUMULATED, **flags)
                )
    return cases


def _triangles() -> list[Case]:
    cases = []
    for upper in (False, True):
        a, b = _regular(2), floats(2, 3, 4, dtype=torch.float64)
        factor = a.triu() if upper else a.tril()
        for unit in (False, True):
            flags = {"upper": upper, "unitriangular": unit}
            cases.append(case("aten.linalg_solve_triangular.default", factor, b, tolerance=ACCUMULATED, **flags))
            left = {"left": False, **flags}
            cases.append(case("aten.linalg_solve_triangular.default", factor, b.mT, tolerance=ACCUMULATED, **left))
        cases += [
            case("aten.triangular_solve.default", b, factor, upper, turned, False, tolerance=ACCUMULATED)
            for turned in (False, True)
        ]
        cases.append(case("aten.cholesky_solve.default", b, factor, upper, tolerance=ACCUMULATED))
        cases.append(case("aten.cholesky_inverse.default", factor, upper, tolerance=ACCUMULATED))
    cases.append(case("aten.linalg_solve_triangular.default", torch.zeros(0, 0), torch.zeros(0, 2), upper=True))
    return cases


def _reflections() -> list[Case]:
    cases = []
    for x in (floats(4, 3, dtype=torch.float64), floats(2, 4, 2, dtype=torch.float64)):
        vectors, factors = torch.geqrf(x)
        cases.append(case("aten.geqrf.default", x, tolerance=ACCUMULATED))
        cases.append(case("aten.linalg_householder_product.default", vectors, factors, tolerance=ACCUMULATED))
        for left in (False, True):
            other = floats(*x.shape[:-2], 4, 4, dtype=torch.float64, seed=3)
            for turned in (False, True):
                arguments = (vectors, factors, other, left, turned)
                cases.append(case("aten.ormqr.default", *arguments, tolerance=ACCUMULATED))
    return cases


CASES = [
    *(
        case("aten.linalg_cholesky_ex.default", x, upper=upper, tolerance=ACCUMULATED)
        for x in (_positive(), _positive(2), torch.zeros(0, 3, 3))
        for upper in (False, True)
    ),
    Case("aten.linalg_cholesky_ex.default", (_indefinite(),), {}, ACCUMULATED, shape_only=(0,)),
    *_lu("aten.linalg_lu_factor_ex.default"),
    *_lu("aten.linalg_lu.default"),
    case("aten.linalg_lu_factor_ex.default", torch.zeros(2, 3, 3)),
    *(
        case("aten.lu_unpack.default", *torch.linalg.lu_factor(x), data, pivots, tolerance=ACCUMULATED)
        for x in _TALL
        for data, pivots in ((True, True), (False, True), (True, False))
    ),
    *_solutions(),
    *(case("aten.linalg_inv_ex.default", x, tolerance=ACCUMULATED) for x in _SQUARE),
    case("aten._linalg_solve_ex.default", _regular(), floats(3).double(), tolerance=ACCUMULATED),
    case("aten._linalg_solve_ex.default", _regular(2), floats(2, 3).double(), tolerance=ACCUMULATED),
    case("aten._linalg_solve_ex.default", _regular(2), floats(2, 3, 2).double(), tolerance=ACCUMULATED),
    case("aten._linalg_solve_ex.default", _regular(2), floats(2, 2, 3).double(), left=False, tolerance=ACCUMULATED),
    *_triangles(),
    *(
        case("aten.linalg_qr.default", x, mode, tolerance=ACCUMULATED)
        for x in (*_TALL, *_NOTHING)
        for mode in ("reduced", "complete", "r")
    ),
    *_reflections(),
]
