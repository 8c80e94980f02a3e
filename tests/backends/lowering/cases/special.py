"""Special functions, complex numbers and their parts, integers' divisors."""

from __future__ import annotations

import math

import torch

from lowering.case import EXACT, Tolerance, case, each, names
from lowering.samples import INF, NAN, floats, ints, special

_SERIES = Tolerance(rtol=1e-5, atol=1e-6)
_PLACES = [floats(4, 5, low=-6, high=6), floats(), floats(0), floats(9, dtype=torch.float64), special()]
_POSITIVE = [floats(4, 5, low=0.1, high=9), floats(low=0.5), floats(0), floats(7, dtype=torch.float64, low=0.1)]
_C = torch.complex(special(), special().roll(3))
_FINITE = torch.complex(floats(3, 4), floats(3, 4, seed=1))

CASES = [
    case(f"aten.{name}.default", x, tolerance=_SERIES)
    for name in names("i0 special_i0e special_i1 special_i1e special_erfcx digamma lgamma")
    for x in _PLACES
]
CASES += [
    case(f"aten.{name}.default", floats(9, low=low, high=high), tolerance=_SERIES)
    for name, low, high in (("erfinv", -1, 1), ("special_ndtri", 0, 1), ("special_log_ndtr", -9, 9))
]
CASES += [
    case("aten.special_log_ndtr.default", floats(99, low=5, high=9), tolerance=Tolerance(rtol=1e-5)),
    case("aten.special_log_ndtr.default", torch.tensor([INF, -INF, NAN, 0.0, -1.0]), tolerance=_SERIES),
]
CASES += [case("aten.special_spherical_bessel_j0.default", floats(9, low=1, high=20), tolerance=_SERIES)]
CASES += [case("aten.special_spherical_bessel_j0.default", torch.tensor([0.0, INF, -INF, NAN]), tolerance=_SERIES)]
CASES += [
    case("aten.polygamma.default", order, x, tolerance=_SERIES) for order in range(4) for x in (*_POSITIVE, _PLACES[0])
]
CASES += [
    case(f"aten.{name}.default", x, x.flip(0) if x.dim() else x, tolerance=_SERIES)
    for name in names("igamma igammac")
    for x in _POSITIVE
]
CASES += [
    case(f"aten.{name}.default", floats(3, 1, low=0.1, high=9), floats(4, low=0.1, high=9), tolerance=_SERIES)
    for name in names("igamma igammac")
]
CASES += [case("aten.special_zeta.default", x + 1, x.flip(0) if x.dim() else x, tolerance=_SERIES) for x in _POSITIVE]
CASES += each(
    "aten.special_zeta.default",
    (torch.tensor([1.0, 0.5, 2.0, 3.0, 2.5, 3.0]), torch.tensor([2.0, 2.0, -1.0, -12.5, -0.5, -0.5])),
    tolerance=_SERIES,
)
CASES += [case("aten.nextafter.default", special()[:, None], special()[None], tolerance=EXACT)]
CASES += [case("aten.nextafter.default", *(floats(5, dtype=torch.bfloat16, seed=s) for s in (0, 1)), tolerance=EXACT)]
CASES += [case("aten.frexp.Tensor", floats(3, 5, low=-99, high=99), tolerance=EXACT)]
CASES += [
    case(f"aten.{name}.default", x, y)
    for name in names("gcd lcm")
    for x, y in (
        (ints(5, 7), ints(7, seed=1)),
        (ints(4).int(), ints(4, seed=1).int()),
        (ints(0), ints(0)),
        (ints(4).byte(), ints(4, seed=1).byte()),
    )
]
CASES += [case(f"aten.{name}.default", x) for name in names("isposinf isneginf") for x in (special(), ints(3))]

CASES += each("aten.complex.default", (special(), special().flip(0)), (floats(3, 1), floats(4)), tolerance=EXACT)
CASES += [case("aten.polar.default", floats(3, 4, low=0), floats(3, 4, seed=1))]
CASES += each("aten.conj_physical.default", (_C,), (floats(3),), tolerance=EXACT)
CASES += each("aten._conj_physical.default", (_C,), tolerance=EXACT)
CASES += each("aten.angle.default", (_FINITE,), (special(),), (floats(3).half(),))
CASES += each("aten.abs.default", (torch.tensor([complex(INF, NAN), complex(NAN, -INF), complex(NAN, 1), 3 + 4j]),))
CASES += each("aten.sgn.default", (_FINITE,), (torch.zeros(2, dtype=torch.complex64),))
CASES += [
    case(f"aten.{name}.default", _FINITE)
    for name in names("abs neg exp log sqrt sin cos sinh cosh tanh reciprocal logical_not sigmoid tan log10 rsqrt")
]
CASES += [
    case(f"aten.{name}.Tensor", _FINITE, _FINITE.flip(0)) for name in names("add sub mul div eq ne")
]  # fmt: skip
CASES += [
    case(f"aten.{name}.correction", _FINITE, [1], correction=1, keepdim=keep)
    for name in names("var std")
    for keep in (False, True)
]
CASES += [case("aten.pow.Tensor_Scalar", _FINITE, math.pi)]
CASES += each("aten.pow.Tensor_Scalar", (torch.tensor([0j, 1 + 1j]), 1 + 1j), (torch.tensor([0j, 2j]), 1.5))
