"""Elementwise ops and activations."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from lazycore_plugin_api import DType

from lazycore.conformance.graph.draw import B, G, P, S, X
from lazycore.conformance.graph.row import ALL, FLOATS, FULL, INTEGERS, NUMERIC, WITH_COMPLEX, Row, row, rows

__all__ = ["ELEMENTWISE"]

# Functions of one operand that are defined on an interval: (low, high) of ordinary operands.
_UNIT = (0.05, 0.95)
_WIDE = (-3.0, 3.0)
_POSITIVE = (0.3, 5.0)
_DOMAINS = {
    _UNIT: "asin acos atanh erfinv special_ndtri special_entr logit",
    _POSITIVE: """sqrt rsqrt reciprocal log log2 log10 log1p lgamma digamma special_bessel_y0 special_bessel_y1
        special_modified_bessel_k0 special_modified_bessel_k1 special_scaled_modified_bessel_k0
        special_scaled_modified_bessel_k1""",
    (1.1, 5.0): "acosh",
    _WIDE: """exp exp2 expm1 sin cos tan atan sinh cosh tanh asinh sigmoid erf erfc i0 sinc special_log_ndtr
        special_erfcx special_i0e special_i1 special_i1e special_bessel_j0 special_bessel_j1
        special_modified_bessel_i0 special_modified_bessel_i1 special_spherical_bessel_j0 special_airy_ai
        relu silu mish gelu hardtanh hardswish hardsigmoid leaky_relu elu softplus
        abs neg sign sgn frac floor ceil round trunc""",
}
_NO_SPECIAL = ("special_", "lgamma", "digamma", "i0")
_KEPT = "abs neg sign sgn relu floor ceil round trunc"
_FLAGS = "isnan isinf isposinf isneginf signbit logical_not"
_COMPLEX = "angle conj_physical _conj_physical exp log sqrt sin cos tanh reciprocal abs neg sgn sigmoid"


def _unary() -> Iterator[Row]:
    for (low, high), names in _DOMAINS.items():
        for name in names.split():
            yield row(name, X(3, 5, low=low, high=high))
            yield row(name, X(low=low, high=high))
            yield row(name, X(0, 3), odd=True)
            if not name.startswith(_NO_SPECIAL) and name != "gelu":  # PyTorch: inf or NaN of inf, by its place
                yield row(name, S(), odd=True)
    for name in f"{_KEPT} {_FLAGS}".split():
        yield row(name, X(3, 4), dtypes=INTEGERS)
        yield row(name, S(), dtypes=FLOATS)
    yield from rows(_COMPLEX, X(3, 4), dtypes=WITH_COMPLEX[2:])
    yield from rows("bitwise_not logical_not", X(3, 4), dtypes=(*INTEGERS, DType.bool))


def _pairs(names: str, dtypes: Sequence[DType], positive: bool = False) -> Iterator[Row]:
    second: Any = P if positive else X
    for name in names.split():
        yield row(name, X(3, 4), second(3, 4), dtypes=dtypes)
        yield row(name, X(3, 1), second(4), dtypes=dtypes)
        yield row(name, X(2, 3), second(), dtypes=dtypes)
        yield row(name, X(0, 3), second(1, 3), dtypes=dtypes, odd=True)
        floating = [d for d in dtypes if d.is_floating]
        if floating:
            yield row(name, S((14, 1)), S((1, 14)), dtypes=floating, odd=True)


_COMPARE = ("eq", "ne", "lt", "le", "gt", "ge")
_SHIFTS = "bitwise_left_shift.Tensor bitwise_right_shift.Tensor"
_POLYNOMIALS = """
special_hermite_polynomial_h special_hermite_polynomial_he special_laguerre_polynomial_l special_legendre_polynomial_p
special_chebyshev_polynomial_t special_chebyshev_polynomial_u special_chebyshev_polynomial_v
special_chebyshev_polynomial_w special_shifted_chebyshev_polynomial_t special_shifted_chebyshev_polynomial_u
special_shifted_chebyshev_polynomial_v special_shifted_chebyshev_polynomial_w
"""


def _binary() -> Iterator[Row]:
    yield from _pairs("add.Tensor mul.Tensor maximum minimum", ALL)
    yield from _pairs("sub.Tensor rsub.Tensor fmax fmin", NUMERIC)
    yield from _pairs("add.Tensor sub.Tensor mul.Tensor", WITH_COMPLEX[2:])
    yield from _pairs("div.Tensor", WITH_COMPLEX)
    yield from _pairs("div.Tensor atan2 hypot copysign.Tensor xlogy.Tensor", FLOATS)
    yield from _pairs("floor_divide fmod.Tensor remainder.Tensor", NUMERIC, positive=True)
    yield from _pairs("pow.Tensor_Tensor", FLOATS)
    yield from _pairs(" ".join(f"{c}.Tensor" for c in _COMPARE), ALL)
    yield from _pairs("logical_and logical_or logical_xor", ALL)
    yield from _pairs("bitwise_and.Tensor bitwise_or.Tensor bitwise_xor.Tensor", (*INTEGERS, DType.bool))
    yield from _pairs("gcd lcm", INTEGERS)
    yield from _pairs("nextafter", FULL)
    for alpha in (2, -0.3):
        yield from rows("add.Tensor sub.Tensor rsub.Tensor", X(3, 4), X(4), alpha=alpha)
    yield from rows("add.Tensor sub.Tensor rsub.Tensor", X(3, 4), X(4), alpha=3, dtypes=INTEGERS)
    yield from rows(_SHIFTS, X(6), G(0, 1, 2, 3, 4, 5), dtypes=INTEGERS)
    yield from rows("bitwise_left_shift.Tensor_Scalar bitwise_right_shift.Tensor_Scalar", X(6), 2, dtypes=INTEGERS)
    for mode in ("floor", "trunc", None):
        yield row("div.Tensor_mode", X(3, 4), P(4), rounding_mode=mode, dtypes=FLOATS if mode is None else NUMERIC)
        yield row("div.Scalar_mode", X(3, 4), 2, rounding_mode=mode, dtypes=FLOATS if mode is None else NUMERIC)
    yield from rows("igamma igammac", P(3, 4), P(3, 4), dtypes=FULL)
    yield row("special_zeta", X(3, 4, low=1.5, high=4), P(3, 4), dtypes=FULL)
    yield from rows(_POLYNOMIALS, X(6, low=-0.9, high=0.9), G(0, 1, 2, 3, 4, 5), dtypes=FULL)
    yield from rows("complex polar", P(3, 4), X(3, 4), dtypes=FULL)


def _scalars() -> Iterator[Row]:
    for number in (1.5, -0.75):  # of every floating dtype
        yield from rows("add.Scalar sub.Scalar rsub.Scalar mul.Scalar div.Scalar", X(3, 4), number)
        yield from rows("fmod.Scalar remainder.Scalar floor_divide.Scalar copysign.Scalar", X(3, 4), number)
        yield from rows(" ".join(f"{c}.Scalar" for c in _COMPARE), X(3, 4), number)
    whole = "add.Scalar sub.Scalar rsub.Scalar mul.Scalar fmod.Scalar remainder.Scalar floor_divide.Scalar"
    yield from rows(f"{whole} {' '.join(f'{c}.Scalar' for c in _COMPARE)}", X(3, 4), 2, dtypes=INTEGERS)
    yield from rows("mul.Scalar add.Scalar div.Scalar", S(), 0.0, odd=True)
    yield from rows("eq.Scalar lt.Scalar ge.Scalar ne.Scalar", S(), float("nan"), odd=True)
    yield from rows("bitwise_and.Scalar bitwise_or.Scalar bitwise_xor.Scalar", X(3, 4), 6, dtypes=INTEGERS)
    yield row("add.Scalar", X(3, 4), 2.0, 0.5)
    yield row("remainder.Scalar_Tensor", 2.5, P(3, 4))
    for exponent in (0.0, 1.0, 2.0, 3.0, 0.5, -1.0, -0.5, 2.5):
        yield row("pow.Tensor_Scalar", P(3, 4), exponent)
        yield row("pow.Tensor_Scalar", S(), exponent, odd=True)
    yield row("pow.Tensor_Scalar", X(3, 4), 3, dtypes=INTEGERS)
    yield row("pow.Scalar", 2.0, X(3, 4))
    yield row("xlogy.Scalar_Self", 2.0, P(3, 4))
    yield row("xlogy.Scalar_Other", X(3, 4), 2.0)
    yield row("logit", X(3, 4, low=-0.5, high=1.5), 0.1)
    yield row("polygamma", 1, P(3, 4), dtypes=FULL)
    yield row("round.decimals", X(3, 4, low=-300, high=300), decimals=1)
    yield row("frexp.Tensor", X(3, 4))


def _several() -> Iterator[Row]:
    yield row("where.self", B(3, 4), X(3, 4), X(4), dtypes=ALL)
    yield row("where.self", B(14), S(), X(14), odd=True)
    yield row("clamp", X(3, 4), -1, 1, dtypes=NUMERIC)
    yield row("clamp", S(), -1.0, 1.0, odd=True)
    yield row("clamp", X(3, 4), None, 1)
    yield row("clamp.Tensor", X(3, 4), X(3, 4), P(4), dtypes=NUMERIC)
    yield row("clamp.Tensor", S(), None, X(14), odd=True)
    yield from rows("clamp_min clamp_max", X(3, 4), 1, dtypes=NUMERIC)
    yield from rows("clamp_min clamp_max", S(), 0.5, odd=True)
    yield from rows("clamp_min.Tensor clamp_max.Tensor", X(3, 4), X(4), dtypes=NUMERIC)
    for value in (1, -0.3):
        yield from rows("addcmul addcdiv", X(3, 4), X(4), P(3, 1), value=value)
    yield row("addcmul", X(3, 4), X(4), X(3, 1), value=2, dtypes=INTEGERS)
    yield row("lerp.Scalar", X(3, 4), X(3, 4), 0.3)
    yield row("lerp.Tensor", X(3, 4), X(3, 4), X(3, 4, low=0, high=1))
    yield row("masked_fill.Scalar", X(3, 4), B(4), 2, dtypes=NUMERIC)
    yield row("masked_fill.Scalar", X(3, 4), B(3, 4), float("-inf"), odd=True)
    yield row("masked_fill.Tensor", X(3, 4), B(4), X(), dtypes=ALL)
    yield row("fill.Scalar", X(3, 4), 2, dtypes=NUMERIC)
    yield row("fill.Tensor", X(3, 4), X(), dtypes=ALL)
    yield from rows("clone alias detach lift_fresh_copy", X(3, 4), dtypes=ALL)
    yield row("copy", X(3, 4), X(3, 4), dtypes=ALL)
    yield row("threshold", X(3, 4), 0.5, -2.0)
    yield from rows("_softmax _log_softmax", X(3, 5), -1, False)
    yield from rows("_softmax _log_softmax", X(3, 5), 0, False)
    yield from rows("_softmax _log_softmax", X(3, 5, low=500, high=900), 1, False, odd=True, dtypes=FULL)
    yield row("gelu", X(3, 4), approximate="tanh")
    yield row("log_sigmoid_forward", X(3, 4), vague=(1,))
    yield row("softplus", X(3, 4, low=-30, high=30), 2, 20)


ELEMENTWISE = [*_unary(), *_binary(), *_scalars(), *_several()]
