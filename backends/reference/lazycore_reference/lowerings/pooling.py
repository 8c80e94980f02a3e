"""Two-dimensional pooling over the last two dimensions, batched or not."""

# Signatures are ATen's, also where an argument does not matter here.
# ruff: noqa: ARG001
# To mypy, arithmetic on arrays of any dtype is Any.
# mypy: disable-error-code="no-any-return"

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from lazycore_plugin_api import TensorSpec

from lazycore_reference.axes import per_dimension
from lazycore_reference.registry import Array, lowering
from lazycore_reference.windows import crop, fold, pad, unfold

Pair = tuple[int, ...]


def _lowest(x: Array) -> Any:
    return -np.inf if x.dtype.kind == "f" else np.iinfo(x.dtype).min


def _after(sizes: Sequence[int], out: Sequence[int], kernel: Pair, stride: Pair, padding: Pair, dilation: Pair) -> Pair:
    """Padding needed behind: in ceil mode the last window may start inside and end outside."""
    rows = zip(sizes, out, kernel, stride, padding, dilation, strict=True)
    return tuple(max((o - 1) * s + (k - 1) * d + 1 - size - p, 0) for size, o, k, s, p, d in rows)


@lowering("aten.max_pool2d_with_indices.default", specs=True)
def max_pool2d(
    x: Array,
    kernel: Any,
    stride: Any,
    padding: Any,
    dilation: Any,
    ceil: bool,
    *,
    specs: tuple[TensorSpec, ...],
) -> tuple[Array, Array]:
    """The largest element of each window and its index in the plane; the first of equals wins, or the last NaN."""
    kernel, padding, dilation = (per_dimension(v, 2) for v in (kernel, padding, dilation))
    stride = per_dimension(stride, 2) if stride else kernel
    out, sizes = specs[0].static_shape[-2:], x.shape[-2:]
    after = _after(sizes, out, kernel, stride, padding, dilation)
    plane = np.arange(sizes[0] * sizes[1]).reshape(sizes)
    values = unfold(pad(x, padding, after, _lowest(x)), kernel, stride, dilation, out)
    places = unfold(pad(plane, padding, after, -1), kernel, stride, dilation, out)
    best = np.full((*x.shape[:-2], *out), _lowest(x), x.dtype)
    index = np.full(best.shape, -1)
    for offset in np.ndindex(*kernel):
        value, place = values[(..., *offset, slice(None), slice(None))], places[offset]
        better = (place >= 0) & ((value > best) | (value != value) | (index < 0))
        best, index = np.where(better, value, best), np.where(better, place, index)
    return best, index


@lowering("aten.max_pool2d_with_indices_backward.default")
def max_pool2d_backward(
    grad: Array,
    x: Array,
    kernel: Any,
    stride: Any,
    padding: Any,
    dilation: Any,
    ceil: bool,
    indices: Array,
) -> Array:
    """Each gradient added at its window's index."""
    planes, size = int(np.prod(x.shape[:-2])), x.shape[-2] * x.shape[-1]
    windows = indices.shape[-2] * indices.shape[-1]  # not -1: there may be no plane
    flat = indices.reshape(planes, windows) + (np.arange(planes) * size)[:, None]
    result = np.zeros(planes * size, grad.dtype)
    np.add.at(result, flat.reshape(-1), grad.reshape(-1))
    return result.reshape(x.shape)


def _extents(size: int, out: int, kernel: int, stride: int, padding: int, include_pad: bool) -> Array:
    """How many elements each window counts along one dimension."""
    start = np.arange(out) * stride - padding
    end = np.minimum(start + kernel, size + padding)
    return end - start if include_pad else np.minimum(end, size) - np.maximum(start, 0)


def _divisors(
    sizes: Sequence[int],
    out: Sequence[int],
    kernel: Pair,
    stride: Pair,
    padding: Pair,
    include_pad: bool,
    override: int | None,
) -> Array:
    if override is not None:
        return np.full((1, 1), override)
    rows, columns = (_extents(*row, include_pad) for row in zip(sizes, out, kernel, stride, padding, strict=True))
    return rows[:, None] * columns


@lowering("aten.avg_pool2d.default", specs=True)
def avg_pool2d(
    x: Array, kernel: Any, stride: Any, padding: Any, ceil: bool, include_pad: bool, override: int | None,
    *, specs: tuple[TensorSpec, ...],
) -> Array:  # fmt: skip
    """The mean of each window; the divisor may count the padding or be given."""
    kernel, padding = per_dimension(kernel, 2), per_dimension(padding, 2)
    stride = per_dimension(stride, 2) if stride else kernel
    out, sizes = specs[0].static_shape[-2:], x.shape[-2:]
    padded = pad(x, padding, _after(sizes, out, kernel, stride, padding, (1, 1)))
    sums = np.sum(unfold(padded, kernel, stride, (1, 1), out), axis=(-4, -3))
    divisors = _divisors(sizes, out, kernel, stride, padding, include_pad, override)
    return sums / divisors.astype(x.dtype)


@lowering("aten.avg_pool2d_backward.default")
def avg_pool2d_backward(
    grad: Array,
    x: Array,
    kernel: Any,
    stride: Any,
    padding: Any,
    ceil: bool,
    include_pad: bool,
    override: int | None,
) -> Array:
    """Each gradient spread evenly over its window."""
    kernel, padding = per_dimension(kernel, 2), per_dimension(padding, 2)
    stride = per_dimension(stride, 2) if stride else kernel
    out, sizes = grad.shape[-2:], x.shape[-2:]
    share = grad / _divisors(sizes, out, kernel, stride, padding, include_pad, override).astype(grad.dtype)
    after = _after(sizes, out, kernel, stride, padding, (1, 1))
    padded = [size + p + a for size, p, a in zip(sizes, padding, after, strict=True)]
    windows = np.broadcast_to(share[..., None, None, :, :], (*share.shape[:-2], *kernel, *out))
    return crop(fold(windows, padded, stride, (1, 1)), padding, sizes)


def _bins(size: int, out: int) -> list[slice]:
    """The input range of each adaptive output: from floor(i * size / out) to ceil((i + 1) * size / out)."""
    return [slice(i * size // out, -(-(i + 1) * size // out)) for i in range(out)]


@lowering("aten._adaptive_avg_pool2d.default")
def adaptive_avg_pool2d(x: Array, size: Any) -> Array:
    """The mean of each of size[0] x size[1] ranges."""
    rows, columns = _bins(x.shape[-2], size[0]), _bins(x.shape[-1], size[1])
    result = np.empty((*x.shape[:-2], *size), x.dtype)
    for i, row in enumerate(rows):
        for j, column in enumerate(columns):
            result[..., i, j] = np.mean(x[..., row, column], axis=(-2, -1))
    return result


@lowering("aten._adaptive_avg_pool2d_backward.default")
def adaptive_avg_pool2d_backward(grad: Array, x: Array) -> Array:
    """Each gradient spread evenly over its range."""
    rows, columns = _bins(x.shape[-2], grad.shape[-2]), _bins(x.shape[-1], grad.shape[-1])
    result = np.zeros(x.shape, grad.dtype)
    for i, row in enumerate(rows):
        for j, column in enumerate(columns):
            area = (row.stop - row.start) * (column.stop - column.start)
            result[..., row, column] += (grad[..., i, j] / grad.dtype.type(area))[..., None, None]
    return result
