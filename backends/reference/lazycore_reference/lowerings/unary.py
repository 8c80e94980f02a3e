"""Functions of one operand, element by element. Integer operands of transcendental functions arrive as floats."""

# To mypy, arithmetic on arrays of any dtype is Any.
# mypy: disable-error-code="no-any-return"

from __future__ import annotations

from typing import Any

import numpy as np

from lazycore_reference.registry import Array, lowering
from lazycore_reference.special import erf, erfc, lgamma

_UFUNCS: dict[str, Any] = {
    "abs": np.abs,
    "neg": np.negative,
    "exp": np.exp,
    "exp2": np.exp2,
    "expm1": np.expm1,
    "log": np.log,
    "log1p": np.log1p,
    "log2": np.log2,
    "log10": np.log10,
    "sqrt": np.sqrt,
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    "sinh": np.sinh,
    "cosh": np.cosh,
    "tanh": np.tanh,
    "asinh": np.arcsinh,
    "acosh": np.arccosh,
    "atanh": np.arctanh,
    "isnan": np.isnan,
    "isinf": np.isinf,
    "logical_not": np.logical_not,
    "bitwise_not": np.invert,
    "erf": erf,
    "erfc": erfc,
    "lgamma": lgamma,
}
_ROUNDINGS = {"floor": np.floor, "ceil": np.ceil, "round": np.rint, "trunc": np.trunc}

for _name, _function in _UFUNCS.items():
    lowering(f"aten.{_name}.default")(_function)


def _whole(x: Array) -> bool:
    return x.dtype.kind in "iub"


def _rounding(function: Any) -> Any:
    # NumPy would round integers through float64, which holds only 53 bits of them.
    return lambda x: x if _whole(x) else function(x)


for _name, _function in _ROUNDINGS.items():
    lowering(f"aten.{_name}.default")(_rounding(_function))


@lowering("aten.reciprocal.default")
def reciprocal(x: Array) -> Array:
    """1 / x."""
    return np.reciprocal(x)


@lowering("aten.rsqrt.default")
def rsqrt(x: Array) -> Array:
    """1 / sqrt(x)."""
    return np.reciprocal(np.sqrt(x))


@lowering("aten.sigmoid.default")
def sigmoid(x: Array) -> Array:
    """1 / (1 + exp(-x)); the exponential's overflow to infinity gives the right 0."""
    return np.reciprocal(1 + np.exp(-x))


@lowering("aten.sgn.default")
def direction(x: Array) -> Array:
    """The sign; of a complex number, the number of size 1 in its direction, or 0."""
    if x.dtype.kind != "c":
        return sign(x)
    size = np.abs(x)
    return np.where(size == 0, x.dtype.type(0), x / size)


@lowering("aten.sign.default")
def sign(x: Array) -> Array:
    """-1, 0 or 1; NaN and both zeros give +0."""
    return x if x.dtype == np.bool_ else np.subtract(x > 0, x < 0, dtype=np.int8)


@lowering("aten.signbit.default")
def signbit(x: Array) -> Array:
    """Whether the sign is negative, also of -0.0 and NaN."""
    return np.less(x, 0) if _whole(x) else np.signbit(x)


@lowering("aten.frac.default")
def frac(x: Array) -> Array:
    """The part behind the point, with the sign of x."""
    return np.subtract(x, np.trunc(x))


@lowering("aten.relu.default")
def relu(x: Array) -> Array:
    """0 where x < 0, else x: NaN and -0.0 are kept."""
    return np.where(x < 0, x.dtype.type(0), x)


@lowering("aten.round.decimals")
def round_decimals(x: Array, *, decimals: int) -> Array:
    """To a number of decimals, halves to even; a negative number rounds before the point."""
    scale = x.dtype.type(10 ** abs(decimals))
    return np.rint(x * scale) / scale if decimals >= 0 else np.rint(x / scale) * scale
