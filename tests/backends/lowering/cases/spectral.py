"""Eigenvalues, singular values and their vectors, of matrices whose vectors LAPACK's builds agree on; positions found
by content."""

from __future__ import annotations

import torch

from lowering.case import ACCUMULATED, EXACT, case, each
from lowering.samples import bools, floats, ints

_DIAGONAL = torch.diag(torch.tensor([1.0, 2.0, 4.0]))
_HERMITIAN = floats(2, 4, 4) + floats(2, 4, 4).mT

CASES = [
    case("aten._linalg_svd.default", floats(2, 3, 5), False, False, tolerance=ACCUMULATED, shape_only=(0, 2)),
    case("aten._linalg_svd.default", floats(4, 3), True, True, tolerance=ACCUMULATED, shape_only=(0, 2)),
    case("aten._linalg_eigh.default", _HERMITIAN, "L", False, tolerance=ACCUMULATED, shape_only=(1,)),
    case("aten._linalg_eigh.default", _HERMITIAN, "U", True, tolerance=ACCUMULATED, shape_only=(1,)),
    case("aten._linalg_eigh.default", _DIAGONAL, "U", True, tolerance=ACCUMULATED),
    case("aten.linalg_eig.default", _DIAGONAL, tolerance=ACCUMULATED),
    case("aten._linalg_eigvals.default", _DIAGONAL, tolerance=ACCUMULATED),
    case("aten._conj_physical.default", torch.complex(floats(3), floats(3, seed=1)), tolerance=EXACT),
]
CASES += each("aten.nonzero_static.default", (bools(3, 4),), (ints(5, low=0, high=2),), (floats(0, 2),), size=5)
CASES += [case("aten.nonzero_static.default", bools(6), size=2, fill_value=7, tolerance=EXACT)]
