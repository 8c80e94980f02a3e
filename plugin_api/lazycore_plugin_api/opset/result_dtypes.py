"""Dtype rules: which dtypes an op's outputs have. One dtype stands for all outputs; None is left open."""

from __future__ import annotations

from typing import TypeAlias

from lazycore_plugin_api.dtypes import DType
from lazycore_plugin_api.opset.rule import Call, Rule, Unfit, rule

__all__ = [
    "common", "compared", "each", "fixed", "flags", "floating", "given", "imaginary", "inexact", "joined",
    "open_dtype", "positions", "quotient", "real", "real_given", "same", "softmaxed", "statistic", "summed",
]  # fmt: skip

DTypes: TypeAlias = tuple[DType | None, ...]

_REAL = {DType.complex32: DType.float16, DType.complex64: DType.float32, DType.complex128: DType.float64}
_COMPLEX = {real: whole for whole, real in _REAL.items()}


@rule
def same(call: Call, of: str = "self") -> DTypes:
    """That of one operand."""
    return (call.dtype(of),)


@rule
def common(call: Call, *names: str) -> DTypes:
    """That of the operands, which promotion has made one."""
    return (_common(call, names),)


def _common(call: Call, names: tuple[str, ...]) -> DType | None:
    found: DType | None = None
    for value in call.values(*names):
        dtype = value.spec.dtype
        if found is not None and dtype is not found:
            raise Unfit(f"has operands of {found.short} and {dtype.short}, which should have been promoted")
        found = dtype
    return found


@rule
def floating(call: Call, *names: str) -> DTypes:
    """That of the operands, which promotion has made one that is floating or complex."""
    dtype = _common(call, names)
    if dtype is not None and (dtype.is_integral or dtype is DType.bool):
        raise Unfit(f"has operands of {dtype.short}, which should have been promoted to floating point")
    return (dtype,)


@rule
def quotient(call: Call, *names: str) -> DTypes:
    """``floating`` without a rounding mode, else ``common``."""
    return (_common(call, names),) if call["rounding_mode"] is not None else floating(*names).apply(call)


@rule
def compared(call: Call, *names: str) -> DTypes:
    """bool, of operands that promotion has made one."""
    _common(call, names)
    return (DType.bool,)


@rule
def fixed(call: Call, *dtypes: DType) -> DTypes:  # noqa: ARG001
    """Always the same."""
    return dtypes


@rule
def real(call: Call, of: str = "self") -> DTypes:
    """That of an operand, of a complex one that of its parts."""
    dtype = call.dtype(of)
    return (_REAL.get(dtype, dtype),)


@rule
def real_given(call: Call, of: str = "self") -> DTypes:
    """What ``dtype`` says, or that of an operand; of a complex one that of its parts."""
    dtype: DType = call["dtype"] or call.dtype(of)
    return (_REAL.get(dtype, dtype),)


@rule
def inexact(call: Call, of: str = "self") -> DTypes:
    """That of an operand that is floating or complex; else left open."""
    dtype = call.dtype(of)
    return (dtype if dtype.is_floating or dtype.is_complex else None,)


@rule
def imaginary(call: Call, of: str = "self") -> DTypes:
    """The complex dtype whose parts are of an operand's dtype; a complex one stays."""
    dtype = call.dtype(of)
    if dtype not in _COMPLEX and dtype not in _REAL:
        raise Unfit(f"has no complex dtype for {of} of {dtype.short}")
    return (_COMPLEX.get(dtype, dtype),)


@rule
def given(call: Call, argument: str = "dtype", otherwise: Rule[DType] | None = None) -> DTypes:
    """What an argument says; where it is None, another rule, or nothing is known."""
    dtype: DType | None = call[argument]
    return (dtype,) if dtype is not None or otherwise is None else otherwise.apply(call)


@rule
def summed(call: Call, of: str = "self") -> DTypes:
    """What ``dtype`` says; else int64 for integers and bools; else that of the operand."""
    dtype: DType = call["dtype"] or call.dtype(of)
    whole = call["dtype"] is None and (dtype.is_integral or dtype is DType.bool)
    return (DType.int64 if whole else dtype,)


@rule
def statistic(call: Call, of: str) -> DTypes:
    """That of an operand of 32 or 64 bits; of a narrower one it is left open, as PyTorch's devices differ."""
    dtype = call.dtype(of)
    return (dtype if dtype in (DType.float32, DType.float64) else None,)


@rule
def flags(call: Call) -> DTypes:
    """bool; uint8 of uint8."""
    return (DType.uint8 if call.dtype("self") is DType.uint8 else DType.bool,)


@rule
def positions(call: Call) -> DTypes:
    """int64, or int32 where ``out_int32`` says so."""
    return (DType.int32 if call["out_int32"] else DType.int64,)


@rule
def softmaxed(call: Call) -> DTypes:
    """That of the operand, or float32 under ``half_to_float``."""
    return (DType.float32 if call["half_to_float"] else call.dtype("self"),)


@rule
def joined(call: Call, of: str) -> DTypes:
    """The dtype that all operands have; left open where they differ."""
    dtypes = {value.spec.dtype for value in call.values(of)}
    return (dtypes.pop() if len(dtypes) == 1 else None,)


@rule
def open_dtype(call: Call) -> DTypes:  # noqa: ARG001
    """Left open."""
    return (None,)


@rule
def each(call: Call, *rules: Rule[DType]) -> DTypes:
    """One rule per output."""
    return tuple(part.apply(call)[0] for part in rules)
