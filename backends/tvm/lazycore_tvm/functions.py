"""Exponentials, logarithms and their kin of float32 without branches or calls, so that loops over them vectorize.

Each reduces its operand to a short interval and takes a polynomial there, fitted to the least largest relative error.
Infinities, NaN and denormals come out as the C library's functions have them; the last bit or two may differ.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from lazycore_tvm.loops import named
from lazycore_tvm.tvm_runtime import tvm

__all__ = ["VECTORIZED"]

tir = tvm.tirx
Expr: TypeAlias = Any

# ln(2) in two parts, the first of so few bits that multiples of it are exact; and its reciprocal.
_LN2_HIGH, _LN2_LOW, _LOG2_E = 0.693359375, -2.12194440e-4, 1.44269504
# Added to a small number, it leaves the nearest whole number in the lowest bits.
_ROUNDER, _ROUNDER_BITS = 12582912.0, 0x4B400000
_ONE_BITS = 0x3F800000
# The square root of a half: mantissas between it and twice it are around 1.
_ROOT_BITS = 0x3F3504F3

# (exp(r) - 1 - r) / r^2 for r between -ln(2)/2 and ln(2)/2.
_EXP = (0.5, 0.16666512191295624, 0.0416661873459816, 0.008369598537683487, 0.0013951718574389815)
# (log(1 + f) - f + f^2 / 2) / f^3 for 1 + f between the square roots of a half and of 2.
_LOG = (
    0.3333333134651184, -0.2500081956386566, 0.20001226663589478, -0.16623356938362122, 0.14201758801937103,
    -0.13160185515880585, 0.12761570513248444, -0.0763448178768158,
)  # fmt: skip
# (tanh(x) - x) / x^3 by x^2, for x up to 0.625.
_TANH = (-0.3333328068256378, 0.13331441581249237, -0.05373971164226532, 0.020639078691601753, -0.005704978480935097)
# erf(x) / x by x^2 is the quotient of these for x up to where erf(x) rounds to 1.
_ERF_ABOVE = (
    1.1283791065216064, 0.19040465354919434, 0.052748385816812515, 0.0037655087653547525, 0.0002848750737030059,
    2.0500349364738213e-06,
)  # fmt: skip
_ERF_BELOW = (
    1.0, 0.5020744800567627, 0.11410827189683914, 0.014969009906053543, 0.001162499189376831, 3.809076952165924e-05,
)  # fmt: skip
_ERF_LAST = 3.92


def _const(value: float) -> Expr:
    return tir.const(value, "float32")


def _int(value: int) -> Expr:
    return tir.const(value, "int32")


def _bits(x: Expr) -> Expr:
    return tir.reinterpret("int32", x)


def _from_bits(bits: Expr) -> Expr:
    return tir.reinterpret("float32", bits)


def _one() -> Expr:
    # As its bits: TVM leaves out factors of a plain one, also where they would make NaN quiet.
    return _from_bits(_int(_ONE_BITS))


def _polynomial(x: Expr, coefficients: Sequence[float]) -> Expr:
    result = _const(coefficients[-1])
    for coefficient in reversed(coefficients[:-1]):
        result = result * x + _const(coefficient)
    return named(result)


def _less(x: Expr, y: Expr) -> Expr:
    return named(x + y * _const(-1.0))


def _between(x: Expr, low: float, high: float) -> Expr:
    """x kept within bounds; NaN stays."""
    above = named(tir.Select(x < _const(low), _const(low), x))
    return named(tir.Select(above > _const(high), _const(high), above))


def _split(x: Expr) -> tuple[Expr, Expr, Expr]:
    """x as n * ln(2) + r: n as an int32, r, and (exp(r) - 1 - r)."""
    shifted = named(x * _const(_LOG2_E) + _const(_ROUNDER))
    n = _less(shifted, _const(_ROUNDER))
    r = named(n * _const(-_LN2_LOW) + named(n * _const(-_LN2_HIGH) + x))
    return named(_bits(shifted) - _int(_ROUNDER_BITS)), r, named(_polynomial(r, _EXP) * named(r * r))


def _scaled(x: Expr, n: Expr) -> Expr:
    """x * 2^n in two steps, each of them a power that is a normal number."""
    half = named(tir.shift_right(n, _int(1)))
    for part in (half, n - half):
        x = named(x * _from_bits(tir.shift_left(part + _int(127), _int(23))))
    return x


def _exp(x: Expr) -> Expr:
    n, r, rest = _split(_between(x, -104.0, 89.0))
    return _scaled(named(named(rest + r) + _one()), n)


def _expm1(x: Expr) -> Expr:
    n, r, rest = _split(_between(x, -20.0, 89.0))
    # 2^-n is 0 where it would be too small for a normal number, and no longer counts anyway.
    down = named(tir.Select(n < _int(100), n, _int(127)))
    inverse = _from_bits(tir.shift_left(_int(127) - down, _int(23)))
    result = _scaled(named(named(rest + r) + _less(_one(), inverse)), n)
    return named(tir.Select(_bits(tir.abs(x)) < _int(0x33000000), x, result))


def _log_normal(x: Expr, exponent: Expr) -> Expr:
    """log(x * 2^exponent) of a positive normal number."""
    shifted = named(_bits(x) - _int(_ROOT_BITS))
    mantissa = _from_bits((shifted & _int(0x7FFFFF)) + _int(_ROOT_BITS))
    f = _less(mantissa, _one())
    n = named(tir.Cast("float32", tir.shift_right(shifted, _int(23)) + exponent))
    square = named(f * f)
    tail = named(_polynomial(f, _LOG) * named(square * f))
    tail = named(n * _const(_LN2_LOW) + tail)
    return named(n * _const(_LN2_HIGH) + named(f + named(square * _const(-0.5) + tail)))


def _log(x: Expr) -> Expr:
    tiny = named(x < _const(2.0**-126))
    scaled = named(tir.Select(tiny, x * _const(2.0**23), x))
    result = _log_normal(scaled, tir.Select(tiny, _int(-23), _int(0)))
    return _of_logarithm(x, result)


def _of_logarithm(x: Expr, result: Expr) -> Expr:
    """The logarithm where x is positive and finite, else what it has to be."""
    infinity, nan = _from_bits(_int(0x7F800000)), _from_bits(_int(0x7FC00000))
    # Of infinity and NaN, themselves.
    result = named(tir.Select(x < infinity, result, x))
    result = named(tir.Select(x < _const(0.0), nan, result))
    return named(tir.Select(tir.abs(x) > _const(0.0), result, tir.Select(tir.isnan(x), x, infinity * _const(-1.0))))


def _log1p(x: Expr) -> Expr:
    u = named(x + _one())
    # What the sum lost, as a share of it.
    lost = named(_less(x, _less(u, _one())) / u)
    result = _of_logarithm(u, named(_log_normal(u, _int(0)) + lost))
    return named(tir.Select(tir.abs(x) < _const(2.0**-25), x, result))


def _signed(size: Expr, x: Expr) -> Expr:
    """A size with the sign of x."""
    return named(_from_bits(tir.bitwise_or(_bits(size), _bits(x) & _int(-0x80000000))))


def _tanh(x: Expr) -> Expr:
    size = named(tir.abs(x))
    power = named(_exp(named(size * _const(2.0))) + _one())
    far = _less(_one(), _const(2.0) / power)
    square = named(size * size)
    near = named(_polynomial(square, _TANH) * named(square * size) + size)
    return _signed(named(tir.Select(size > _const(0.625), far, near)), x)


def _erf(x: Expr) -> Expr:
    size = _between(named(tir.abs(x)), 0.0, _ERF_LAST)
    square = named(size * size)
    inside = _between(size * _polynomial(square, _ERF_ABOVE) / _polynomial(square, _ERF_BELOW), 0.0, 1.0)
    return _signed(named(tir.Select(size < _const(_ERF_LAST), inside, tir.Select(tir.isnan(x), x, _one()))), x)


VECTORIZED: Mapping[str, Callable[[Expr], Expr]] = {
    "exp": _exp, "expm1": _expm1, "log": _log, "log1p": _log1p, "tanh": _tanh, "erf": _erf,
}  # fmt: skip
"""By the C library's name."""
