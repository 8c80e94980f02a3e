"""Convolution of any number of spatial dimensions by window views and one matrix product per group."""

# Signatures are ATen's, also where an argument does not matter here.
# ruff: noqa: ARG001
# To mypy, arithmetic on arrays of any dtype is Any.
# mypy: disable-error-code="no-any-return"

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lazycore_reference.axes import per_dimension
from lazycore_reference.registry import Array, lowering
from lazycore_reference.windows import crop, fold, pad, unfold


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


def _windows(x: Array, kernel: Sequence[int], g: Geometry) -> Array:
    """(N, C, *spatial) to (groups, N, *out, C / groups, *kernel)."""
    n = len(kernel)
    views = unfold(pad(x, g.padding, g.padding), kernel, g.stride, g.dilation, g.out(x.shape[2:], kernel))
    grouped = views.reshape(x.shape[0], g.groups, -1, *views.shape[2:]) if g.groups > 1 else views[:, None]
    return np.moveaxis(np.moveaxis(grouped, 1, 0), 2, 2 + n)


def correlate(x: Array, w: Array, g: Geometry) -> Array:
    """The convolution: x (N, C, *spatial), w (M, C / groups, *kernel) to (N, M, *out)."""
    windows = _windows(x, w.shape[2:], g)
    batch, out = windows.shape[1], windows.shape[2 : w.ndim]
    columns = windows.reshape(g.groups, batch * int(np.prod(out)), -1 if windows.size else int(np.prod(w.shape[1:])))
    filters = w.reshape(g.groups, w.shape[0] // g.groups, -1)
    result = np.matmul(columns, filters.transpose(0, 2, 1))
    shaped = result.reshape(g.groups, batch, *out, -1 if result.size else filters.shape[1])
    return np.moveaxis(np.moveaxis(shaped, -1, 2), 0, 1).reshape(batch, w.shape[0], *out)


def _grouped(grad: Array, groups: int) -> Array:
    """(N, M, *out) to (groups, N * out, M / groups)."""
    n, m = grad.shape[:2]
    split = grad.reshape(n, groups, m // groups, int(np.prod(grad.shape[2:])))
    return split.transpose(1, 0, 3, 2).reshape(groups, -1 if grad.size else 0, m // groups)


def input_gradient(grad: Array, w: Array, sizes: Sequence[int], g: Geometry) -> Array:
    """The transpose of ``correlate`` in x: grad (N, M, *out) to (N, C, *sizes)."""
    n, out, inner = grad.shape[0], grad.shape[2:], w.shape[1:]
    filters = w.reshape(g.groups, w.shape[0] // g.groups, -1)
    columns = np.matmul(_grouped(grad, g.groups), filters).reshape(g.groups, n, *out, *inner)
    channels_first = np.moveaxis(np.moveaxis(columns, 2 + len(out), 2), 0, 1)
    windows = channels_first.reshape(n, g.groups * inner[0], *out, *inner[1:])
    padded = [size + 2 * p for size, p in zip(sizes, g.padding, strict=True)]
    return crop(fold(windows, padded, g.stride, g.dilation), g.padding, sizes)


def weight_gradient(grad: Array, x: Array, shape: tuple[int, ...], g: Geometry) -> Array:
    """The transpose of ``correlate`` in w: grad (N, M, *out), x (N, C, *spatial) to the weight's shape."""
    windows = _windows(x, shape[2:], g)
    out = grad.shape[2:]
    trimmed = windows[(slice(None), slice(None), *(slice(o) for o in out))]
    columns = trimmed.reshape(g.groups, grad.shape[0] * int(np.prod(out)), int(np.prod(shape[1:])))
    return np.matmul(_grouped(grad, g.groups).transpose(0, 2, 1), columns).reshape(shape)


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
        dx = correlate(grad, w, g) if transposed else input_gradient(grad, w, x.shape[2:], g)
    if mask[1]:
        dw = weight_gradient(other, image, w.shape, g)
    db = np.sum(grad, axis=(0, *range(2, grad.ndim))) if mask[2] else None
    return dx, dw, db
