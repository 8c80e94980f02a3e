"""Special functions of one and two operands."""

from __future__ import annotations

from typing import Any

import numpy as np

from lazycore_reference.registry import Array, lowering
from lazycore_reference.special_bessel import airy, i_scaled, j, k_scaled, y
from lazycore_reference.special_error import erfcx, erfinv, log_ndtr, ndtri
from lazycore_reference.special_gamma import digamma, igamma, zeta


def _i(order: int) -> Any:
    # As ATen's, infinite arguments give NaN, the product of a vanishing and an infinite factor.
    return lambda x: i_scaled(order, x) * np.exp(np.minimum(np.abs(x.astype(np.float64)), 800))


def _k(order: int) -> Any:
    return lambda x: k_scaled(order, x) * np.exp(-x.astype(np.float64))


_UNARY: dict[str, Any] = {
    "digamma": digamma,
    "erfinv": erfinv,
    "special_erfcx": erfcx,
    "special_log_ndtr": log_ndtr,
    "special_ndtri": ndtri,
    "i0": _i(0),
    "special_i0e": lambda x: i_scaled(0, x),
    "special_i1": _i(1),
    "special_i1e": lambda x: i_scaled(1, x),
    "special_bessel_j0": lambda x: j(0, x),
    "special_bessel_j1": lambda x: j(1, x),
    "special_bessel_y0": lambda x: y(0, x),
    "special_bessel_y1": lambda x: y(1, x),
    "special_modified_bessel_i0": _i(0),
    "special_modified_bessel_i1": _i(1),
    "special_modified_bessel_k0": _k(0),
    "special_modified_bessel_k1": _k(1),
    "special_scaled_modified_bessel_k0": lambda x: k_scaled(0, x),
    "special_scaled_modified_bessel_k1": lambda x: k_scaled(1, x),
    "special_airy_ai": airy,
}

for _name, _function in _UNARY.items():
    lowering(f"aten.{_name}.default")(_function)

lowering("aten.special_zeta.default")(zeta)


@lowering("aten.igamma.default")
def lower_gamma(a: Array, x: Array) -> Array:
    """The lower regularized incomplete gamma function."""
    return igamma(a, x, upper=False)


@lowering("aten.igammac.default")
def upper_gamma(a: Array, x: Array) -> Array:
    """The upper regularized incomplete gamma function."""
    return igamma(a, x, upper=True)


@lowering("aten.special_spherical_bessel_j0.default")
def spherical_j0(x: Array) -> Array:
    """sin(x) / x; 1 at 0, 0 at infinity."""
    wide = x.astype(np.float64)
    return np.where(np.isinf(wide), 0, np.sinc(wide / np.pi))


@lowering("aten.nextafter.default", raw=True)
def next_after(x: Array, towards: Array) -> Array:
    """The next representable number."""
    return np.asarray(np.nextafter(x, towards))


@lowering("aten.gcd.default")
def greatest_divisor(x: Array, other: Array) -> Array:
    """The greatest common divisor."""
    return np.asarray(np.gcd(x, other))


@lowering("aten.lcm.default")
def least_multiple(x: Array, other: Array) -> Array:
    """The least common multiple."""
    return np.asarray(np.lcm(x, other))


@lowering("aten.frexp.Tensor")
def mantissa_and_exponent(x: Array) -> tuple[Array, Array]:
    """x as a mantissa in [0.5, 1) and a power of two."""
    mantissa, exponent = np.frexp(x)
    return mantissa, np.where(np.isfinite(x), exponent, 0)
