"""Bessel functions, the Airy function, orthogonal polynomials."""

from __future__ import annotations

import torch

from lowering.case import Tolerance, case, names
from lowering.samples import INF, NAN, floats

_ROUGH = Tolerance(rtol=2e-5, atol=1e-5)
_PLACES = [floats(40, low=-30, high=30), floats(9, low=-2, high=2), floats(0, 2), floats(7, dtype=torch.float64)]
_RIGHT = [floats(40, low=0.05, high=60), torch.tensor([0.0, -1.0, 1e-3, NAN]), floats(0)]
# Beyond these every recurrence of a polynomial is rounding noise in float32.
_X = floats(40, 1, low=-1.5, high=1.5)
_DEGREES = torch.tensor([-1.0, 0.0, 1.0, 2.0, 3.0, 4.5, 6.0, NAN, INF, -INF])

CASES = [
    case(f"aten.special_{name}.default", x, tolerance=_ROUGH)
    for name in names("bessel_j0 bessel_j1 modified_bessel_i0 modified_bessel_i1")
    for x in _PLACES
]
CASES += [
    case(f"aten.special_{name}.default", x, tolerance=_ROUGH)
    for name in names(
        "bessel_y0 bessel_y1 modified_bessel_k0 modified_bessel_k1 scaled_modified_bessel_k0 scaled_modified_bessel_k1"
    )
    for x in _RIGHT
]
CASES += [
    case("aten.special_airy_ai.default", x, tolerance=_ROUGH)
    for x in (floats(40, low=-9, high=9), torch.tensor([0.0, 2.0, -6.0, NAN]))
]
CASES += [case("aten.special_modified_bessel_i0.default", torch.tensor([INF, -INF, NAN, 0.0]), tolerance=_ROUGH)]
CASES += [
    case(f"aten.special_{name}.default", x, _DEGREES, tolerance=Tolerance(rtol=1e-4, atol=1e-4))
    for name in names(
        "chebyshev_polynomial_t chebyshev_polynomial_u chebyshev_polynomial_v chebyshev_polynomial_w"
        " shifted_chebyshev_polynomial_t shifted_chebyshev_polynomial_u shifted_chebyshev_polynomial_v"
        " shifted_chebyshev_polynomial_w hermite_polynomial_h hermite_polynomial_he laguerre_polynomial_l"
        " legendre_polynomial_p"
    )
    for x in (_X, torch.tensor([[0.0], [1.0], [-1.0]]), floats(0, 1))
]
