"""Elementwise ops of several operands: arithmetic, comparisons, bits, selection."""

from __future__ import annotations

from lazycore_plugin_api.dtypes import DType
from lazycore_plugin_api.opset.result_dtypes import compared, fixed, same
from lazycore_plugin_api.opset.row import OpRow, Promotion
from lazycore_plugin_api.opset.shapes.elementwise import broadcast, same_as
from lazycore_plugin_api.opset.table.make import promoted, row

__all__ = ["BINARY"]

_COMMON, _FLOAT, _QUOTIENT = Promotion.common, Promotion.floating, Promotion.quotient
_BOTH = "self other"
_TO_ZERO = "integers are rounded as rounding_mode says; no divisor is 0"
_ORDERED = "false wherever a NaN takes part"


def _with_either(name: str) -> tuple[str, str]:
    return f"{name}.Tensor(Tensor self, Tensor other) -> Tensor", f"{name}.Scalar(Tensor self, Scalar other) -> Tensor"


def _compared(name: str) -> list[OpRow]:
    note = "true wherever a NaN takes part" if name == "ne" else _ORDERED
    dtype = compared("self", "other")
    return [promoted(s, _COMMON, note, operands=_BOTH, lift="other", dtype=dtype) for s in _with_either(name)]


def _bits(name: str) -> list[OpRow]:
    return [promoted(s, _COMMON, operands=_BOTH) for s in _with_either(name)]


BINARY = [
    promoted(
        "add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor",
        _COMMON,
        "self + alpha * other; integers wrap around, bools are or'ed",
        operands=_BOTH,
        lift="other alpha",
    ),
    promoted(
        "add.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor",
        _COMMON,
        "self + alpha * other",
        operands=_BOTH,
        lift="other alpha",
    ),
    promoted(
        "sub.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor",
        _COMMON,
        "self - alpha * other; integers wrap around",
        operands=_BOTH,
        lift="other alpha",
    ),
    promoted(
        "sub.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor",
        _COMMON,
        "self - alpha * other",
        operands=_BOTH,
        lift="other alpha",
    ),
    promoted(
        "rsub.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor",
        _COMMON,
        "other - alpha * self",
        operands=_BOTH,
        lift="other alpha",
    ),
    promoted(
        "rsub.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor",
        _COMMON,
        "other - alpha * self",
        operands=_BOTH,
        lift="other alpha",
    ),
    promoted(
        "mul.Tensor(Tensor self, Tensor other) -> Tensor",
        _COMMON,
        "integers wrap around, bools are and'ed",
        operands=_BOTH,
        lift="other",
    ),
    promoted(
        "mul.Scalar(Tensor self, Scalar other) -> Tensor", _COMMON, "integers wrap around", operands=_BOTH, lift="other"
    ),
    promoted("div.Tensor(Tensor self, Tensor other) -> Tensor", _FLOAT, "true division", operands=_BOTH, lift="other"),
    promoted("div.Scalar(Tensor self, Scalar other) -> Tensor", _FLOAT, "true division", operands=_BOTH, lift="other"),
    promoted(
        "div.Tensor_mode(Tensor self, Tensor other, *, str? rounding_mode) -> Tensor",
        _QUOTIENT,
        _TO_ZERO,
        operands=_BOTH,
    ),
    promoted(
        "div.Scalar_mode(Tensor self, Scalar other, *, str? rounding_mode) -> Tensor",
        _QUOTIENT,
        _TO_ZERO,
        operands=_BOTH,
    ),
    promoted(
        "floor_divide(Tensor self, Tensor other) -> Tensor",
        _COMMON,
        "rounded down, of floats as Python does; no integer divisor is 0",
        operands=_BOTH,
    ),
    promoted(
        "floor_divide.Scalar(Tensor self, Scalar other) -> Tensor",
        _COMMON,
        "rounded down; no integer divisor is 0",
        operands=_BOTH,
    ),
    promoted(
        "fmod.Tensor(Tensor self, Tensor other) -> Tensor",
        _COMMON,
        "has the sign of the dividend; no integer divisor is 0",
        operands=_BOTH,
    ),
    promoted(
        "fmod.Scalar(Tensor self, Scalar other) -> Tensor", _COMMON, "has the sign of the dividend", operands=_BOTH
    ),
    promoted(
        "remainder.Tensor(Tensor self, Tensor other) -> Tensor",
        _COMMON,
        "has the sign of the divisor; no integer divisor is 0",
        operands=_BOTH,
    ),
    promoted(
        "remainder.Scalar(Tensor self, Scalar other) -> Tensor", _COMMON, "has the sign of the divisor", operands=_BOTH
    ),
    promoted(
        "remainder.Scalar_Tensor(Scalar self, Tensor other) -> Tensor",
        _COMMON,
        "has the sign of the divisor",
        operands=_BOTH,
    ),
    promoted(
        "pow.Tensor_Tensor(Tensor self, Tensor exponent) -> Tensor",
        _COMMON,
        "integers wrap around; to negative powers 0, but 1 of 1 and of -1 to even ones",
        operands="self exponent",
    ),
    promoted(
        "pow.Tensor_Scalar(Tensor self, Scalar exponent) -> Tensor",
        _COMMON,
        "integers wrap around",
        operands="self exponent",
    ),
    promoted(
        "pow.Scalar(Scalar self, Tensor exponent) -> Tensor", _COMMON, "integers wrap around", operands="self exponent"
    ),
    promoted("maximum(Tensor self, Tensor other) -> Tensor", _COMMON, "NaN wherever a NaN takes part"),
    promoted("minimum(Tensor self, Tensor other) -> Tensor", _COMMON, "NaN wherever a NaN takes part"),
    promoted("fmax(Tensor self, Tensor other) -> Tensor", _COMMON, "the other operand where one is NaN"),
    promoted("fmin(Tensor self, Tensor other) -> Tensor", _COMMON, "the other operand where one is NaN"),
    promoted("atan2(Tensor self, Tensor other) -> Tensor", _FLOAT, "signs of zeros count", operands=_BOTH),
    promoted("hypot(Tensor self, Tensor other) -> Tensor", _COMMON),
    promoted("nextafter(Tensor self, Tensor other) -> Tensor", _COMMON),
    promoted("gcd(Tensor self, Tensor other) -> Tensor", _COMMON, "never negative"),
    promoted("lcm(Tensor self, Tensor other) -> Tensor", _COMMON, "never negative"),
    promoted("igamma(Tensor self, Tensor other) -> Tensor", _COMMON),
    promoted("igammac(Tensor self, Tensor other) -> Tensor", _COMMON),
    promoted(
        "xlogy.Tensor(Tensor self, Tensor other) -> Tensor",
        _FLOAT,
        "0 where self is 0 and other is no NaN",
        operands=_BOTH,
    ),
    promoted(
        "xlogy.Scalar_Self(Scalar self, Tensor other) -> Tensor",
        _FLOAT,
        "0 where self is 0 and other is no NaN",
        operands=_BOTH,
    ),
    promoted(
        "xlogy.Scalar_Other(Tensor self, Scalar other) -> Tensor",
        _FLOAT,
        "0 where self is 0 and other is no NaN",
        operands=_BOTH,
    ),
    promoted(
        "copysign.Tensor(Tensor self, Tensor other) -> Tensor", _FLOAT, "signs of zeros and NaN count", operands=_BOTH
    ),
    promoted("copysign.Scalar(Tensor self, Scalar other) -> Tensor", _FLOAT, "signs of zeros count", operands=_BOTH),
    *(r for name in ("eq", "ne", "lt", "le", "gt", "ge") for r in _compared(name)),
    *(r for name in ("bitwise_and", "bitwise_or", "bitwise_xor") for r in _bits(name)),
    promoted(
        "bitwise_left_shift.Tensor(Tensor self, Tensor other) -> Tensor",
        _COMMON,
        "0 where the count is negative or no less than the bits",
        operands=_BOTH,
    ),
    promoted("bitwise_left_shift.Tensor_Scalar(Tensor self, Scalar other) -> Tensor", _COMMON, operands=_BOTH),
    promoted(
        "bitwise_right_shift.Tensor(Tensor self, Tensor other) -> Tensor",
        _COMMON,
        "the sign comes in; all of it where the count is negative or too large",
        operands=_BOTH,
    ),
    promoted("bitwise_right_shift.Tensor_Scalar(Tensor self, Scalar other) -> Tensor", _COMMON, operands=_BOTH),
    *(
        row(f"{n}(Tensor self, Tensor other) -> Tensor", fixed(DType.bool), broadcast("self", "other"), "NaN is true")
        for n in ("logical_and", "logical_or", "logical_xor")
    ),
    promoted("where.self(Tensor condition, Tensor self, Tensor other) -> Tensor", _COMMON, operands=_BOTH, lift=_BOTH),
    promoted(
        "clamp(Tensor self, Scalar? min=None, Scalar? max=None) -> Tensor",
        _COMMON,
        "max wins over min; NaN stays",
        operands="self min max",
        lift="min max",
    ),
    promoted(
        "clamp.Tensor(Tensor self, Tensor? min=None, Tensor? max=None) -> Tensor",
        _COMMON,
        "max wins over min; NaN of any operand stays",
        operands="self min max",
    ),
    promoted("clamp_min(Tensor self, Scalar min) -> Tensor", _COMMON, "NaN stays", operands="self min", lift="min"),
    promoted(
        "clamp_min.Tensor(Tensor self, Tensor min) -> Tensor",
        _COMMON,
        "NaN of either stays",
        operands="self min",
        lift="min",
    ),
    promoted("clamp_max(Tensor self, Scalar max) -> Tensor", _COMMON, "NaN stays", operands="self max", lift="max"),
    promoted(
        "clamp_max.Tensor(Tensor self, Tensor max) -> Tensor",
        _COMMON,
        "NaN of either stays",
        operands="self max",
        lift="max",
    ),
    promoted(
        "addcmul(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor",
        _COMMON,
        "self + value * tensor1 * tensor2",
        operands="self tensor1 tensor2",
        lift="value",
    ),
    promoted(
        "addcdiv(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor",
        _COMMON,
        "self + value * tensor1 / tensor2",
        operands="self tensor1 tensor2",
        lift="value",
    ),
    promoted(
        "lerp.Scalar(Tensor self, Tensor end, Scalar weight) -> Tensor",
        _COMMON,
        "computed from end where the weight is 0.5 or more",
        operands="self end",
        lift="weight",
    ),
    promoted(
        "lerp.Tensor(Tensor self, Tensor end, Tensor weight) -> Tensor",
        _COMMON,
        "computed from end where the weight is 0.5 or more",
        operands="self end",
        lift="weight",
    ),
    row(
        "masked_fill.Scalar(Tensor self, Tensor mask, Scalar value) -> Tensor",
        same(),
        broadcast("self", "mask"),
        lift="value",
    ),
    promoted(
        "masked_fill.Tensor(Tensor self, Tensor mask, Tensor value) -> Tensor",
        _COMMON,
        "value is 0-d",
        operands="self",
        dtype=same(),
    ),
    row("fill.Scalar(Tensor self, Scalar value) -> Tensor", same(), same_as("self")),
    row("fill.Tensor(Tensor self, Tensor value) -> Tensor", same(), same_as("self"), "value is 0-d"),
    row("copy(Tensor self, Tensor src) -> Tensor", same(), same_as("self"), "src is broadcast and cast"),
]
