"""Elementwise ops of one operand, special functions and orthogonal polynomials."""

from __future__ import annotations

from lazycore_plugin_api.dtypes import DType
from lazycore_plugin_api.opset.result_dtypes import each, fixed, imaginary, real, same
from lazycore_plugin_api.opset.row import OpRow, Promotion
from lazycore_plugin_api.opset.shapes.elementwise import broadcast, same_as
from lazycore_plugin_api.opset.table.make import promoted, row

__all__ = ["UNARY"]

_FLOAT = Promotion.floating
_SAME = same_as("self")
_BOOL = fixed(DType.bool)

_NOTES = {
    "sqrt": "NaN below 0, -0.0 of -0.0",
    "rsqrt": "inf of 0.0, -inf of -0.0",
    "reciprocal": "infinite, of the same sign, at zeros",
    "log1p": "exact near 0",
    "expm1": "exact near 0",
    "sigmoid": "no overflow for large negative operands",
    "lgamma": "inf at 0 and the negative integers",
    "digamma": "-inf at 0.0, inf at -0.0, NaN at the negative integers",
    "erfinv": "infinite at -1 and 1, NaN beyond",
    "special_ndtri": "infinite at 0 and 1, NaN beyond",
    "special_entr": "0 at 0, -inf below",
    "sinc": "1 at 0; of pi times the operand",
}
_FLOATING = """
sqrt rsqrt reciprocal exp exp2 expm1 log log2 log10 log1p sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh
sigmoid erf erfc erfinv lgamma digamma i0 sinc special_ndtri special_log_ndtr special_entr special_erfcx special_i0e
special_i1 special_i1e special_bessel_j0 special_bessel_j1 special_bessel_y0 special_bessel_y1
special_modified_bessel_i0 special_modified_bessel_i1 special_modified_bessel_k0 special_modified_bessel_k1
"""
_FLOATING_OF_X = """
special_scaled_modified_bessel_k0 special_scaled_modified_bessel_k1 special_spherical_bessel_j0 special_airy_ai
"""
_POLYNOMIALS = """
special_hermite_polynomial_h special_hermite_polynomial_he special_laguerre_polynomial_l special_legendre_polynomial_p
special_chebyshev_polynomial_t special_chebyshev_polynomial_u special_chebyshev_polynomial_v
special_chebyshev_polynomial_w special_shifted_chebyshev_polynomial_t special_shifted_chebyshev_polynomial_u
special_shifted_chebyshev_polynomial_v special_shifted_chebyshev_polynomial_w
"""


def _kept(name: str, note: str = "") -> OpRow:
    return row(f"{name}(Tensor self) -> Tensor", same(), _SAME, note)


def _flag(name: str, note: str = "") -> OpRow:
    return row(f"{name}(Tensor self) -> Tensor", _BOOL, _SAME, note)


UNARY = [
    *(promoted(f"{n}(Tensor self) -> Tensor", _FLOAT, _NOTES.get(n, "")) for n in _FLOATING.split()),
    *(promoted(f"{n}(Tensor x) -> Tensor", _FLOAT) for n in _FLOATING_OF_X.split()),
    *(promoted(f"{n}(Tensor x, Tensor n) -> Tensor", _FLOAT, "n is rounded towards 0") for n in _POLYNOMIALS.split()),
    promoted("logit(Tensor self, float? eps=None) -> Tensor", _FLOAT, "with eps, clamped to [eps, 1 - eps] before"),
    promoted("polygamma(int n, Tensor self) -> Tensor", _FLOAT),
    promoted("special_zeta(Tensor self, Tensor other) -> Tensor", _FLOAT),
    promoted("angle(Tensor self) -> Tensor", _FLOAT, "pi for negative reals, NaN of NaN", dtype=real()),
    row("abs(Tensor self) -> Tensor", real(), _SAME, "the most negative integer stays; the modulus of complex numbers"),
    _kept("neg", "integers wrap around"),
    _kept("sign", "0 of NaN"),
    _kept("sgn", "0 of 0 and of NaN; z / |z| of complex numbers"),
    _kept("floor"),
    _kept("ceil"),
    _kept("trunc"),
    _kept("frac", "has the operand's sign"),
    _kept("round", "halves go to the even number"),
    row(
        "round.decimals(Tensor self, *, int decimals) -> Tensor",
        same(),
        _SAME,
        "scaled, rounded half to even, scaled back",
    ),
    _kept("bitwise_not", "logical negation of bools"),
    _kept("conj_physical"),
    _kept("_conj_physical"),
    _kept("clone", "must yield a buffer of its own"),
    _kept("alias", "by value"),
    _kept("detach", "by value"),
    _kept("lift_fresh_copy"),
    _flag("logical_not"),
    _flag("isnan", "of complex numbers, of either part"),
    _flag("isinf", "of complex numbers, of either part"),
    _flag("isposinf"),
    _flag("isneginf"),
    _flag("signbit", "true of -0.0 and of NaN with the sign set"),
    row(
        "frexp.Tensor(Tensor self) -> (Tensor, Tensor)",
        each(same(), fixed(DType.int32)),
        same_as("self", "self"),
        "the mantissa is in [0.5, 1)",
    ),
    row("complex(Tensor real, Tensor imag) -> Tensor", imaginary("real"), broadcast("real", "imag")),
    row("polar(Tensor abs, Tensor angle) -> Tensor", imaginary("abs"), broadcast("abs", "angle")),
]
