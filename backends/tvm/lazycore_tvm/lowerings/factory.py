"""Tensors out of numbers."""

# Signatures are ATen's, also where an argument does not matter here.
# ruff: noqa: ARG001

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lazycore_plugin_api import DType, TensorSpec

from lazycore_tvm.arrays import Array
from lazycore_tvm.registry import ANY, Kind, lowering
from lazycore_tvm.scalars import Expr, cast, compute_type, literal, rounded
from lazycore_tvm.tvm_runtime import tvm

tir = tvm.tirx


def _filled(value: Any, spec: TensorSpec) -> Array:
    """A number, or a 0-d array, everywhere."""
    dtype = spec.dtype

    def at(*_: Expr) -> Expr:
        if isinstance(value, Array):
            return rounded(cast(value.at(), DType(compute_type(value.dtype)), dtype), dtype)
        return rounded(literal(value, dtype), dtype)

    return Array(spec.shape, dtype, at, at, 1)


@lowering("full", dtypes=ANY, needs_out=True)
def full(size: Sequence[int], value: Any, *, dtype: DType | None = None, out: list[TensorSpec]) -> Array:
    """A number everywhere; integers wrap around."""
    return _filled(value, out[0])


@lowering("scalar_tensor", dtypes=ANY, needs_out=True)
def scalar_tensor(value: Any, *, dtype: DType | None = None, out: list[TensorSpec]) -> Array:
    """A number as a 0-d tensor."""
    return _filled(value, out[0])


@lowering("arange.start_step", kind=Kind.kernel, dtypes=ANY, needs_out=True)
def arange(start: Any, end: Any, step: Any, *, dtype: DType | None = None, out: list[TensorSpec]) -> Array:
    """start + i * step, in int64 or float64 and rounded once; whole results count from whole numbers."""
    to = out[0].dtype
    whole = to.is_integral or all(isinstance(n, int) for n in (start, step))
    wide = DType.int64 if whole else DType.float64
    first, width = (literal(int(n) if to.is_integral else n, wide) for n in (start, step))

    def at(i: Expr) -> Expr:
        return cast(first + tir.Cast(wide.value, i) * width, wide, to)

    return Array(out[0].shape, to, at, at, 1)


@lowering("eye.m", dtypes=ANY, needs_out=True)
def eye(rows: int, columns: int, *, dtype: DType | None = None, out: list[TensorSpec]) -> Array:
    """Ones on the diagonal."""
    to = out[0].dtype

    def at(i: Expr, j: Expr) -> Expr:
        on = tir.EQ(i, j)
        return on if to is DType.bool else tir.Select(on, literal(1, to), literal(0, to))

    return Array(out[0].shape, to, at, None, 1)
