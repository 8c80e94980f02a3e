"""Average pooling over two or three dimensions, by a fixed or an adaptive window, and its gradients."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from lazycore_xla.lowerings.operands import Array, Out, is_float, quotient, transpose_of
from lazycore_xla.lowerings.windows import Sizes, adaptive_bounds, per_dimension
from lazycore_xla.registry import FLOATING, INTEGRAL, register_all

__all__: list[str] = []


@dataclass(frozen=True)
class _Window:
    """A pooling's attributes, one number per dimension."""

    size: Sizes
    kernel: Sizes
    steps: Sizes
    pads: Sizes
    include_pad: bool
    divisor: int | None

    def edges(self, plane: Sizes) -> list[tuple[int, int]]:
        """Padding before and after each dimension; negative where the last window ends before the edge."""
        rows = zip(plane, self.size, self.kernel, self.steps, self.pads, strict=True)
        return [(p, (o - 1) * s + k - n - p) for n, o, k, s, p in rows]

    def counts(self, plane: Sizes) -> Any:
        """By what each output is divided; padding beyond the declared one is never counted."""
        if self.divisor is not None:
            return np.full((1,) * len(plane), float(self.divisor))
        lengths = []
        for n, o, k, s, p in zip(plane, self.size, self.kernel, self.steps, self.pads, strict=True):
            start = np.arange(o) * s - p
            stop = np.minimum(start + k, n + p)
            length = stop - start if self.include_pad else np.minimum(stop, n) - np.maximum(start, 0)
            lengths.append(length.astype(np.float64))
        return reduce(np.multiply.outer, lengths)


def _window(size: Sizes, attributes: Sequence[Any]) -> _Window:
    """From the schema's arguments after the input; the effect of ``ceil_mode`` is in the size."""
    kernel, stride, padding, _, include_pad, divisor = attributes
    rank = len(size)
    return _Window(
        size,
        per_dimension(kernel, rank),
        per_dimension(stride, rank, kernel),
        per_dimension(padding, rank),
        include_pad,
        divisor,
    )


def _pool(x: Array, window: _Window) -> Array:
    rank = len(window.size)
    lead, plane = x.ndim - rank, x.shape[-rank:]
    edges = window.edges(plane)
    kept = [n + min(high, 0) for n, (_, high) in zip(plane, edges, strict=True)]
    cropped = lax.slice(x, [0] * x.ndim, (*x.shape[:lead], *kept))
    padding = [(0, 0)] * lead + [(low, max(high, 0)) for low, high in edges]
    dimensions, strides = (*[1] * lead, *window.kernel), (*[1] * lead, *window.steps)
    total = lax.reduce_window(cropped, np.zeros((), x.dtype)[()], lax.add, dimensions, strides, padding)
    counts = jnp.broadcast_to(jnp.asarray(window.counts(plane), x.dtype), total.shape)
    return quotient(total, counts) if is_float(x) else lax.div(total, counts)


def _average_pool(rank: int) -> Any:
    def pool(x: Array, *attributes: Any, out: Out) -> Array:
        return _pool(x, _window(out[0].static_shape[-rank:], attributes))

    return pool


def _average_pool_backward(rank: int) -> Any:
    def backward(gradient: Array, x: Array, *attributes: Any) -> Array:
        window = _window(gradient.shape[-rank:], attributes)
        return transpose_of(lambda v: _pool(v, window), x.shape, gradient)

    return backward


def _adaptive(x: Array, size: Sizes) -> Array:
    if 0 in size or 0 in x.shape:
        return jnp.zeros((*x.shape[: -len(size)], *size), x.dtype)
    for axis, parts in enumerate(size, start=x.ndim - len(size)):
        x = _adaptive_axis(x, axis, parts)
    return x


def _adaptive_axis(x: Array, axis: int, parts: int) -> Array:
    """Means of ``parts`` nearly equal stretches."""
    length = x.shape[axis]
    if length % parts == 0:
        split = x.reshape(*x.shape[:axis], parts, length // parts, *x.shape[axis + 1 :])
        return jnp.mean(split, axis=axis + 1)
    means = [
        jnp.mean(lax.slice_in_dim(x, int(a), int(b), axis=axis), axis=axis, keepdims=True)
        for a, b in zip(*adaptive_bounds(length, parts), strict=True)
    ]
    return lax.concatenate(means, axis)


def _adaptive_pool(rank: int) -> Any:
    return lambda x, output_size, out: _adaptive(x, out[0].static_shape[-rank:])  # noqa: ARG005


def _adaptive_pool_backward(rank: int) -> Any:
    return lambda gradient, x: transpose_of(lambda v: _adaptive(v, gradient.shape[-rank:]), x.shape, gradient)


_RANKS = (2, 3)
_OUT = {"widen": True, "needs_out": True, "dtypes": FLOATING}
_PLAIN = {"widen": True, "dtypes": FLOATING}
register_all(
    {f"aten.avg_pool{r}d.default": _average_pool(r) for r in _RANKS},
    widen=True,
    needs_out=True,
    dtypes=FLOATING | INTEGRAL,
)
register_all({f"aten.avg_pool{r}d_backward.default": _average_pool_backward(r) for r in _RANKS}, **_PLAIN)
register_all({f"aten._adaptive_avg_pool{r}d.default": _adaptive_pool(r) for r in _RANKS}, **_OUT)
register_all({f"aten._adaptive_avg_pool{r}d_backward.default": _adaptive_pool_backward(r) for r in _RANKS}, **_PLAIN)
