"""Average pooling over two dimensions, by a fixed or an adaptive window, and its gradients."""

from __future__ import annotations

from collections.abc import Sequence

import jax.numpy as jnp
import numpy as np
from jax import lax

from lazycore_xla.lowerings.operands import Array, Out, transpose_of
from lazycore_xla.lowerings.pooling import pair
from lazycore_xla.registry import FLOATING, lowering

__all__: list[str] = []

Sizes = Sequence[int]


@lowering("aten.avg_pool2d.default", widen=True, needs_out=True, dtypes=FLOATING)
def _average_pool(
    x: Array,
    kernel: Sizes,
    stride: Sizes,
    padding: Sizes,
    ceil_mode: bool,  # noqa: ARG001
    count_include_pad: bool,
    divisor: int | None,
    *,
    out: Out,
) -> Array:
    return _pool(x, out[0].static_shape[-2:], kernel, stride, padding, count_include_pad, divisor)


@lowering("aten.avg_pool2d_backward.default", widen=True, dtypes=FLOATING)
def _average_pool_backward(
    gradient: Array,
    x: Array,
    kernel: Sizes,
    stride: Sizes,
    padding: Sizes,
    ceil_mode: bool,  # noqa: ARG001
    count_include_pad: bool,
    divisor: int | None,
) -> Array:
    size = gradient.shape[-2:]

    def pool(v: Array) -> Array:
        return _pool(v, size, kernel, stride, padding, count_include_pad, divisor)

    return transpose_of(pool, x.shape, gradient)


def _pool(
    x: Array, size: Sizes, kernel: Sizes, stride: Sizes, padding: Sizes, include_pad: bool, divisor: int | None
) -> Array:  # fmt: skip
    window, steps, pads = pair(kernel), pair(stride, kernel), pair(padding)
    edges = [
        (p, (o - 1) * s + k - n - p)
        for n, o, k, s, p in zip(x.shape[-2:], size, window, steps, pads, strict=True)
    ]  # fmt: skip
    lead = x.ndim - 2
    cropped = _cropped(x, edges)
    padding_config = [(0, 0)] * lead + [(low, max(high, 0)) for low, high in edges]
    dimensions, strides = (*[1] * lead, *window), (*[1] * lead, *steps)
    total = lax.reduce_window(cropped, np.zeros((), x.dtype)[()], lax.add, dimensions, strides, padding_config)
    counts = _counts(x.shape[-2:], size, window, steps, pads, include_pad, divisor)
    return total / jnp.asarray(counts, x.dtype)


def _cropped(x: Array, edges: Sequence[tuple[int, int]]) -> Array:
    """Without the rows and columns behind the last window."""
    (_, bottom), (_, right) = edges
    rows, columns = x.shape[-2] + min(bottom, 0), x.shape[-1] + min(right, 0)
    return x[..., :rows, :columns]


def _counts(
    plane: Sizes, size: Sizes, window: Sizes, steps: Sizes, pads: Sizes, include_pad: bool, divisor: int | None
) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    """By what each output is divided; padding beyond the declared one is never counted."""
    if divisor is not None:
        return np.full((1, 1), float(divisor))
    lengths = []
    for n, o, k, s, p in zip(plane, size, window, steps, pads, strict=True):
        start = np.arange(o) * s - p
        stop = np.minimum(start + k, n + p)
        lengths.append(stop - start if include_pad else np.minimum(stop, n) - np.maximum(start, 0))
    return (lengths[0][:, None] * lengths[1][None, :]).astype(np.float64)


@lowering("aten._adaptive_avg_pool2d.default", widen=True, needs_out=True, dtypes=FLOATING)
def _adaptive_pool(x: Array, output_size: Sizes, *, out: Out) -> Array:  # noqa: ARG001
    return _adaptive(x, out[0].static_shape[-2:])


@lowering("aten._adaptive_avg_pool2d_backward.default", widen=True, dtypes=FLOATING)
def _adaptive_pool_backward(gradient: Array, x: Array) -> Array:
    return transpose_of(lambda v: _adaptive(v, gradient.shape[-2:]), x.shape, gradient)


def _adaptive(x: Array, size: Sizes) -> Array:
    if x.ndim < 3 or 0 in size or 0 in x.shape:
        return jnp.zeros((*x.shape[:-2], *size), x.dtype)
    return _adaptive_axis(_adaptive_axis(x, x.ndim - 2, size[0]), x.ndim - 1, size[1])


def _adaptive_axis(x: Array, axis: int, parts: int) -> Array:
    """Means of ``parts`` nearly equal, perhaps overlapping stretches: floor(i n / parts) to ceil((i + 1) n / parts)."""
    length = x.shape[axis]
    if length % parts == 0:
        split = x.reshape(*x.shape[:axis], parts, length // parts, *x.shape[axis + 1 :])
        return jnp.mean(split, axis=axis + 1)
    starts = np.arange(parts) * length // parts
    stops = -(-(np.arange(1, parts + 1) * length) // parts)
    means = [
        jnp.mean(lax.slice_in_dim(x, int(a), int(b), axis=axis), axis=axis, keepdims=True)
        for a, b in zip(starts, stops, strict=True)
    ]
    return lax.concatenate(means, axis)
