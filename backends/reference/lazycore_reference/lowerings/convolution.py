"""Convolution of any number of spatial dimensions by window views and one matrix product per group."""

# Signatures are ATen's, also where an argument does not matter here.
# ruff: noqa: ARG001
# To mypy, arithmetic on arrays of any dtype is Any.
# mypy: disable-error-code="no-any-return"

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lazycore_reference.axes import per_dimension, trailing
from lazycore_reference.registry import Array, lowering
from lazycore_reference.windows import crop, fold, pad, unfold

CACHE = 1 << 20
"""Bytes that a temporary matrix may take."""


@dataclass(frozen=True)
class Geometry:
    """Attributes of a plain convolution, one number per spatial dimension."""

    stride: tuple[int, ...]
    padding: tuple[int, ...]
    dilation: tuple[int, ...]
    groups: int

    @classmethod
    def of(
        cls, n: int, stride: Sequence[int], padding: Sequence[int], dilation: Sequence[int], groups: int
    ) -> Geometry:
        """From ATen's lists, which may hold a single number for all dimensions."""
        return cls(per_dimension(stride, n), per_dimension(padding, n), per_dimension(dilation, n), groups)

    def reach(self, kernel: Sequence[int]) -> list[int]:
        """How far the kernel reaches in each dimension."""
        return [(k - 1) * d + 1 for k, d in zip(kernel, self.dilation, strict=True)]

    def out(self, sizes: Sequence[int], kernel: Sequence[int]) -> list[int]:
        """Sizes of the result for an input of the given spatial sizes."""
        rows = zip(sizes, self.padding, self.reach(kernel), self.stride, strict=True)
        return [(size + 2 * p - r) // s + 1 for size, p, r, s in rows]


def _columns(x: Array, kernel: Sequence[int], out: Sequence[int], g: Geometry) -> Array:
    """What each output reads, as matrices: (N, C, *spatial) to (N, groups, C / groups * kernel, out)."""
    windows = unfold(pad(x, g.padding, g.padding), kernel, g.stride, g.dilation, out)
    rows = x.shape[1] // g.groups * math.prod(kernel)
    return windows.reshape(x.shape[0], g.groups, rows, math.prod(out))


def _filters(w: Array, g: Geometry) -> Array:
    """(M, C / groups, *kernel) to (groups, M / groups, C / groups * kernel)."""
    return w.reshape(g.groups, w.shape[0] // g.groups, math.prod(w.shape[1:]))


def _grouped(grad: Array, g: Geometry) -> Array:
    """(N, M, *out) to (N, groups, M / groups, out)."""
    return grad.reshape(grad.shape[0], g.groups, grad.shape[1] // g.groups, math.prod(grad.shape[2:]))


def _parts(x: Array, w: Array, out: Sequence[int]) -> Iterator[slice]:
    """Parts of the batch whose columns stay in the cache: one matrix for all samples is several times slower."""
    size = x.dtype.itemsize * math.prod(w.shape[1:]) * math.prod(out)
    step = max(1, CACHE // max(size, 1))
    return (slice(start, start + step) for start in range(0, x.shape[0], step))


def correlate(x: Array, w: Array, g: Geometry) -> Array:
    """The convolution: x (N, C, *spatial), w (M, C / groups, *kernel) to (N, M, *out)."""
    out, filters = g.out(x.shape[2:], w.shape[2:]), _filters(w, g)
    result = np.empty((x.shape[0], *filters.shape[:2], math.prod(out)), x.dtype)
    for part in _parts(x, w, out):
        np.matmul(filters, _columns(x[part], w.shape[2:], out, g), out=result[part])
    return result.reshape(x.shape[0], w.shape[0], *out)


def input_gradient(grad: Array, w: Array, sizes: Sequence[int], g: Geometry) -> Array:
    """The transpose of ``correlate`` in x: grad (N, M, *out) to (N, C, *sizes)."""
    out, filters = grad.shape[2:], _filters(w, g).transpose(0, 2, 1)
    result = np.empty((grad.shape[0], w.shape[1] * g.groups, *sizes), grad.dtype)
    padded = [size + 2 * p for size, p in zip(sizes, g.padding, strict=True)]
    for part in _parts(grad, w, out):
        columns = np.matmul(filters, _grouped(grad[part], g))
        windows = columns.reshape(columns.shape[0], result.shape[1], *w.shape[2:], *out)
        result[part] = crop(fold(windows, padded, g.stride, g.dilation), g.padding, sizes)
    return result


def weight_gradient(grad: Array, x: Array, w: Array, g: Geometry) -> Array:
    """The transpose of ``correlate`` in w: grad (N, M, *out), x (N, C, *spatial) to the weight's shape."""
    out = grad.shape[2:]
    total = np.zeros_like(_filters(w, g))
    for part in _parts(x, w, out):
        columns = _columns(x[part], w.shape[2:], out, g)
        total += np.sum(np.matmul(_grouped(grad[part], g), columns.transpose(0, 1, 3, 2)), axis=0)
    return total.reshape(w.shape)


def _transposed_sizes(x: Array, w: Array, g: Geometry, output_padding: Sequence[int]) -> list[int]:
    rows = zip(x.shape[2:], g.stride, g.padding, g.reach(w.shape[2:]), output_padding, strict=True)
    return [(size - 1) * s - 2 * p + r + extra for size, s, p, r, extra in rows]


@lowering("aten.convolution.default")
def convolution(
    x: Array,
    w: Array,
    bias: Array | None,
    stride: Any,
    padding: Any,
    dilation: Any,
    transposed: bool,
    extra: Any,
    groups: int,
) -> Array:
    """Convolution or, transposed, its gradient used as an upsampling layer; the bias is per output channel."""
    n = w.ndim - 2
    g = Geometry.of(n, stride, padding, dilation, groups)
    if transposed:
        result = input_gradient(x, w, _transposed_sizes(x, w, g, per_dimension(extra, n)), g)
    else:
        result = correlate(x, w, g)
    return result if bias is None else result + bias.reshape(-1, *(1,) * n)


@lowering("aten.convolution_backward.default")
def convolution_backward(
    grad: Array, x: Array, w: Array, bias_sizes: Any, stride: Any, padding: Any, dilation: Any, transposed: bool,
    extra: Any, groups: int, mask: tuple[bool, bool, bool],
) -> tuple[Array | None, Array | None, Array | None]:  # fmt: skip
    """Gradients for input, weight and bias, each where the mask asks for it."""
    g = Geometry.of(w.ndim - 2, stride, padding, dilation, groups)
    image, other = (grad, x) if transposed else (x, grad)
    dx = dw = None
    if mask[0]:
        # With dilation an output padding can reach as far as the stride, and one more window would fit.
        ahead = trailing(slice(n) for n in x.shape[2:])
        dx = correlate(grad, w, g)[ahead] if transposed else input_gradient(grad, w, x.shape[2:], g)
    if mask[1]:
        dw = weight_gradient(other, image, w, g)
    db = np.sum(grad, axis=(0, *range(2, grad.ndim))) if mask[2] else None
    return dx, dw, db
