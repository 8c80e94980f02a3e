"""Convolution by NumPy's BLAS: the windows of the input as a matrix, times the filters as another, for each group."""

# Signatures are ATen's, also where an argument does not matter here.
# ruff: noqa: ARG001

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from lazycore_plugin_api import HostArray

from lazycore_tvm.products import product
from lazycore_tvm.registry import FLOATS, INTS, Kind, lowering

# A matrix of windows that outgrows the cache makes the product several times slower.
_CACHE_BYTES = 1 << 20


@dataclass(frozen=True)
class Plain:
    """A convolution that is not transposed: attributes with one number for each of the spatial dimensions."""

    kernel: tuple[int, ...]
    stride: tuple[int, ...]
    padding: tuple[int, ...]
    dilation: tuple[int, ...]
    groups: int

    def reach(self) -> list[int]:
        """How many elements a window spans in each dimension."""
        return [(k - 1) * d + 1 for k, d in zip(self.kernel, self.dilation, strict=True)]

    def windows(self, sizes: Sequence[int]) -> list[int]:
        """How many windows there are in each dimension of an input."""
        rows = zip(sizes, self.padding, self.reach(), self.stride, strict=True)
        return [(size + 2 * p - r) // s + 1 for size, p, r, s in rows]

    def offsets(self, windows: Sequence[int]) -> Iterator[tuple[tuple[int, ...], tuple[Any, ...]]]:
        """Each place inside the kernel, and the padded input's elements that lie there in all windows."""
        for place in itertools.product(*map(range, self.kernel)):
            rows = zip(place, self.dilation, self.stride, windows, strict=True)
            yield place, tuple(slice(p * d, p * d + (n - 1) * s + 1, s) for p, d, s, n in rows)


def _each(values: Any, count: int) -> tuple[int, ...]:
    numbers = tuple(values)
    return numbers * count if len(numbers) == 1 else numbers


def _columns(x: HostArray, plain: Plain, windows: Sequence[int]) -> HostArray:
    """(N, C, *sizes) to (N, groups, C / groups * kernel, windows)."""
    n, channels = x.shape[:2]
    padded = np.pad(x, [(0, 0), (0, 0), *((p, p) for p in plain.padding)]) if any(plain.padding) else x
    columns = np.empty((n, channels, *plain.kernel, *windows), x.dtype)
    for place, elements in plain.offsets(windows):
        columns[(slice(None), slice(None), *place)] = padded[(..., *elements)]
    rows = channels // plain.groups * math.prod(plain.kernel)
    return columns.reshape(n, plain.groups, rows, math.prod(windows))


def _filters(w: HostArray, plain: Plain) -> HostArray:
    return w.reshape(plain.groups, w.shape[0] // plain.groups, math.prod(w.shape[1:]))


def _results(grad: HostArray, plain: Plain) -> HostArray:
    return grad.reshape(grad.shape[0], plain.groups, grad.shape[1] // plain.groups, math.prod(grad.shape[2:]))


def _parts(n: int, w: HostArray, windows: Sequence[int]) -> Iterator[slice]:
    """Parts of the batch whose windows fit the cache."""
    step = max(1, _CACHE_BYTES // max(1, w.itemsize * math.prod(w.shape[1:]) * math.prod(windows)))
    return (slice(start, start + step) for start in range(0, n, step))


def _forward(x: HostArray, w: HostArray, plain: Plain) -> HostArray:
    """x (N, C, *sizes), w (M, C / groups, *kernel) to (N, M, *windows)."""
    windows, filters = plain.windows(x.shape[2:]), _filters(w, plain)
    result = np.empty((x.shape[0], *filters.shape[:2], math.prod(windows)), x.dtype)
    for part in _parts(x.shape[0], w, windows):
        product(filters, _columns(x[part], plain, windows), out=result[part])
    return result.reshape(x.shape[0], w.shape[0], *windows)


def _to_input(grad: HostArray, w: HostArray, sizes: Sequence[int], plain: Plain) -> HostArray:
    """The gradient for an input of the given sizes: every window's share, added where windows overlap."""
    windows, filters = grad.shape[2:], _filters(w, plain).transpose(0, 2, 1)
    channels = w.shape[1] * plain.groups
    padded = np.zeros(
        (grad.shape[0], channels, *(s + 2 * p for s, p in zip(sizes, plain.padding, strict=True))), grad.dtype
    )
    for part in _parts(grad.shape[0], w, windows):
        shares = product(filters, _results(grad[part], plain)).reshape(-1, channels, *plain.kernel, *windows)
        for place, elements in plain.offsets(windows):
            padded[(part, slice(None), *elements)] += shares[(slice(None), slice(None), *place)]
    inside = tuple(slice(p, p + s) for p, s in zip(plain.padding, sizes, strict=True))
    return padded[(..., *inside)]


def _to_weight(grad: HostArray, x: HostArray, w: HostArray, plain: Plain) -> HostArray:
    """The gradient for the filters."""
    total = np.zeros_like(_filters(w, plain))
    for part in _parts(x.shape[0], w, grad.shape[2:]):
        columns = _columns(x[part], plain, grad.shape[2:])
        total += product(_results(grad[part], plain), columns.transpose(0, 1, 3, 2)).sum(axis=0)
    return total.reshape(w.shape)


def _plain(w: HostArray, stride: Any, padding: Any, dilation: Any, groups: int) -> Plain:
    n = w.ndim - 2
    return Plain(w.shape[2:], _each(stride, n), _each(padding, n), _each(dilation, n), groups)


def _transposed_sizes(x: HostArray, plain: Plain, extra: Sequence[int]) -> list[int]:
    rows = zip(x.shape[2:], plain.stride, plain.padding, plain.reach(), extra, strict=True)
    return [(size - 1) * s - 2 * p + r + more for size, s, p, r, more in rows]


@lowering("convolution", kind=Kind.host, dtypes=FLOATS | INTS)
def convolution(
    x: HostArray, w: HostArray, bias: HostArray | None, stride: Any, padding: Any, dilation: Any, transposed: bool,
    extra: Any, groups: int,
) -> HostArray:  # fmt: skip
    """Convolution or, transposed, its gradient used as an upsampling layer; the bias is per output channel."""
    plain = _plain(w, stride, padding, dilation, groups)
    if transposed:
        result = _to_input(x, w, _transposed_sizes(x, plain, _each(extra, w.ndim - 2)), plain)
    else:
        result = _forward(x, w, plain)
    return result if bias is None else result + bias.reshape(-1, *(1,) * (w.ndim - 2))


@lowering("convolution_backward", kind=Kind.host, dtypes=FLOATS)
def convolution_backward(
    grad: HostArray, x: HostArray, w: HostArray, bias_sizes: Any, stride: Any, padding: Any, dilation: Any,
    transposed: bool, extra: Any, groups: int, mask: tuple[bool, bool, bool],
) -> tuple[HostArray | None, HostArray | None, HostArray | None]:  # fmt: skip
    """Gradients for input, weight and bias, each where the mask asks for it."""
    plain = _plain(w, stride, padding, dilation, groups)
    dx = dw = None
    if mask[0] and transposed:
        # With dilation an output padding can reach as far as the stride, and one more window would fit.
        dx = _forward(grad, w, plain)[(..., *(slice(n) for n in x.shape[2:]))]
    elif mask[0]:
        dx = _to_input(grad, w, x.shape[2:], plain)
    if mask[1]:
        dw = _to_weight(x, grad, w, plain) if transposed else _to_weight(grad, x, w, plain)
    return dx, dw, grad.sum(axis=(0, *range(2, grad.ndim))) if mask[2] else None
