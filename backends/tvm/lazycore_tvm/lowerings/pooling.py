"""Two-dimensional pooling over the last two dimensions, batched or not, and the gradients of its reads."""

# Signatures are ATen's, also where an argument does not matter here.
# ruff: noqa: ARG001

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from lazycore_plugin_api import DType, HostArray, TensorSpec

from lazycore_tvm.arrays import Array, elementwise, staged, widened
from lazycore_tvm.loops import either
from lazycore_tvm.lowerings.reduction import finished
from lazycore_tvm.reductions import MAXIMUM, MINIMUM, extreme, reduced
from lazycore_tvm.registry import FLOATS, Kind, lowering
from lazycore_tvm.scalars import Expr, equal, is_nan, literal, select
from lazycore_tvm.tvm_runtime import tvm

tir = tvm.tirx
Pair: TypeAlias = tuple[int, int]
Out: TypeAlias = list[TensorSpec]
_KERNEL: dict[str, Any] = {"kind": Kind.kernel, "dtypes": FLOATS | {DType.int64}, "needs_out": True, "rereads": True}


def _pair(values: Any) -> Pair:
    numbers = tuple(values)
    return (numbers[0], numbers[-1])


def _place(i: Sequence[Expr], stride: Pair, padding: Pair, dilation: Pair) -> tuple[Expr, Expr]:
    """The row and column of the plane that an element of a window is."""
    numbers = zip((-4, -3), (-2, -1), stride, dilation, padding, strict=True)
    row, column = (i[o] * s + i[k] * d - p for o, k, s, d, p in numbers)
    return row, column


@lowering("max_pool2d_with_indices", **_KERNEL)
def max_pool2d(
    x: Array, kernel: Any, stride: Any, padding: Any, dilation: Any, ceil: bool, *, out: Out
) -> tuple[Array, Array]:
    """The largest element of each window and its index in the plane; the first of equals wins, or the last NaN."""
    wide, (high, broad) = widened(x), x.shape[-2:]
    steps = _pair(stride or kernel), _pair(padding), _pair(dilation)
    shape = (*out[0].static_shape, *_pair(kernel))
    axes = (len(shape) - 2, len(shape) - 1)

    def inside(i: Sequence[Expr]) -> Expr:
        row, column = _place(i, *steps)
        return tir.all(row >= 0, row < high, column >= 0, column < broad)

    def value(*i: Expr) -> Expr:
        lowest = literal(np.iinfo(np.int64).min if wide.dtype.is_integral else -math.inf, wide.dtype)
        return either(inside(i), lambda: wide.at(*i[:-4], *_place(i, *steps)), lambda: lowest)

    def spot(*i: Expr) -> Expr:
        row, column = _place(i, *steps)
        return select(inside(i), tir.Cast("int64", row * broad + column), tir.const(-1, "int64"))

    windows = Array(shape, wide.dtype, value, None, 1)
    best = staged(extreme(windows, axes, True))
    spots = Array(shape, DType.int64, spot, None, 1)
    return finished(best, out[0]), finished(_chosen(windows, spots, best, axes, high * broad), out[1])


def _chosen(windows: Array, spots: Array, best: Array, axes: Sequence[int], none: int) -> Array:
    """The first place of the largest element, or the last of a NaN."""
    behind, before = tir.const(none, "int64"), tir.const(-1, "int64")

    def equal_place(v: Expr, b: Expr, place: Expr) -> Expr:
        return select(tir.all(equal(v, b), place > before), place, behind)

    def nan_place(v: Expr, place: Expr) -> Expr:
        return select(is_nan(v), place, before)

    equals = elementwise(equal_place, windows, best, spots, dtype=DType.int64)
    first = reduced(equals, axes, MINIMUM, DType.int64)
    last = reduced(elementwise(nan_place, windows, spots, dtype=DType.int64), axes, MAXIMUM, DType.int64)
    choose = lambda b, one, other: select(is_nan(b), other, one)  # noqa: E731
    return elementwise(choose, best, first, last, dtype=DType.int64)


@lowering("max_pool2d_with_indices_backward", kind=Kind.host, dtypes=FLOATS | {DType.int64})
def max_pool2d_backward(
    grad: HostArray, x: HostArray, kernel: Any, stride: Any, padding: Any, dilation: Any, ceil: bool,
    indices: HostArray,
) -> HostArray:  # fmt: skip
    """Each gradient added at its window's index."""
    size = x.shape[-2] * x.shape[-1]
    result = np.zeros((x.size // max(size, 1), size), grad.dtype)
    planes = np.arange(result.shape[0])[:, None]
    flat = (result.shape[0], indices.shape[-2] * indices.shape[-1])  # not -1: there may be no plane
    np.add.at(result, (planes, indices.reshape(flat)), grad.reshape(flat))
    return result.reshape(x.shape)


def _extents(size: int, out: int, kernel: int, stride: int, padding: int, include_pad: bool) -> HostArray:
    """How many elements each window counts along one dimension."""
    start = np.arange(out) * stride - padding
    end = np.minimum(start + kernel, size + padding)
    return end - start if include_pad else np.minimum(end, size) - np.maximum(start, 0)


@dataclass(frozen=True)
class Average:
    """The windows of an average, and what each is divided by."""

    sizes: Pair
    out: Pair
    kernel: Pair
    stride: Pair
    padding: Pair

    def divisors(self, include_pad: bool, override: int | None) -> HostArray:
        """One number for each window, to broadcast."""
        if override is not None:
            return np.full((1, 1), override)
        numbers = zip(self.sizes, self.out, self.kernel, self.stride, self.padding, strict=True)
        rows, columns = (_extents(*row, include_pad) for row in numbers)
        return rows[:, None] * columns

    def padded(self) -> list[int]:
        """Sizes of a plane that holds all windows, the padding in front included."""
        numbers = zip(self.sizes, self.out, self.kernel, self.stride, self.padding, strict=True)
        return [max((o - 1) * s + k, p + size) for size, o, k, s, p in numbers]

    def parts(self) -> Iterator[tuple[slice, slice]]:
        """For each place inside the kernel, the padded plane's elements that lie there in all windows."""
        for place in np.ndindex(*self.kernel):
            row, column = (
                slice(p, p + (o - 1) * s + 1, s) for p, o, s in zip(place, self.out, self.stride, strict=True)
            )
            yield row, column

    def inner(self) -> tuple[slice, slice]:
        """The plane inside the padded one."""
        (high, broad), (above, before) = self.sizes, self.padding
        return slice(above, above + high), slice(before, before + broad)


def _average(x: HostArray, out: Sequence[int], kernel: Any, stride: Any, padding: Any) -> Average:
    return Average(_pair(x.shape[-2:]), _pair(out[-2:]), _pair(kernel), _pair(stride or kernel), _pair(padding))


@lowering("avg_pool2d", kind=Kind.host, dtypes=FLOATS | {DType.int64}, needs_out=True)
def avg_pool2d(
    x: HostArray, kernel: Any, stride: Any, padding: Any, ceil: bool, include_pad: bool, override: int | None,
    *, out: Out,
) -> HostArray:  # fmt: skip
    """The mean of each window; the divisor may count the padding or be given. Of integers, rounded towards zero."""
    shape = out[0].static_shape
    windows = _average(x, shape, kernel, stride, padding)
    plane = np.zeros((*x.shape[:-2], *windows.padded()), x.dtype)
    plane[(..., *windows.inner())] = x
    total = np.zeros(shape, x.dtype)
    for part in windows.parts():
        total += plane[(..., *part)]
    divisors = windows.divisors(include_pad, override).astype(x.dtype)
    if x.dtype.kind == "i":
        return np.sign(total) * np.sign(divisors) * (np.abs(total) // np.abs(divisors))
    return total / divisors


@lowering("avg_pool2d_backward", kind=Kind.host, dtypes=FLOATS)
def avg_pool2d_backward(
    grad: HostArray, x: HostArray, kernel: Any, stride: Any, padding: Any, ceil: bool, include_pad: bool,
    override: int | None,
) -> HostArray:  # fmt: skip
    """Each gradient spread evenly over its window."""
    windows = _average(x, grad.shape, kernel, stride, padding)
    share = grad / windows.divisors(include_pad, override).astype(grad.dtype)
    plane = np.zeros((*x.shape[:-2], *windows.padded()), grad.dtype)
    for part in windows.parts():
        plane[(..., *part)] += share
    return plane[(..., *windows.inner())]


def _bins(size: int, out: int) -> list[slice]:
    """The input range of each adaptive output: from floor(i * size / out) to ceil((i + 1) * size / out)."""
    return [slice(i * size // out, -(-(i + 1) * size // out)) for i in range(out)]


def _areas(x: HostArray, out: Sequence[int]) -> Iterator[tuple[int, int, slice, slice]]:
    for i, row in enumerate(_bins(x.shape[-2], out[-2])):
        for j, column in enumerate(_bins(x.shape[-1], out[-1])):
            yield i, j, row, column


@lowering("_adaptive_avg_pool2d", kind=Kind.host, dtypes=FLOATS, needs_out=True)
def adaptive_avg_pool2d(x: HostArray, size: Any, *, out: Out) -> HostArray:
    """The mean of each of size[0] x size[1] ranges."""
    result = np.empty(out[0].static_shape, x.dtype)
    for i, j, row, column in _areas(x, result.shape):
        result[..., i, j] = x[..., row, column].mean(axis=(-2, -1))
    return result


@lowering("_adaptive_avg_pool2d_backward", kind=Kind.host, dtypes=FLOATS)
def adaptive_avg_pool2d_backward(grad: HostArray, x: HostArray) -> HostArray:
    """Each gradient spread evenly over its range."""
    result = np.zeros(x.shape, grad.dtype)
    for i, j, row, column in _areas(x, grad.shape):
        area = (row.stop - row.start) * (column.stop - column.start)
        result[..., row, column] += (grad[..., i, j] / grad.dtype.type(area))[..., None, None]
    return result
