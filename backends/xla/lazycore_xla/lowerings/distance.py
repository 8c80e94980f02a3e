"""Distances between the rows of two matrices, or of one, in the p-norm, and their gradients."""

from __future__ import annotations

import math

import jax.numpy as jnp
import numpy as np

from lazycore_xla.lowerings.operands import Array, Out, as_dtype
from lazycore_xla.registry import FLOATING, lowering

__all__: list[str] = []


def _norm(difference: Array, p: float) -> Array:
    """The p-norm over the last dimension."""
    size = jnp.abs(difference)
    if p == 0:
        return jnp.sum(size != 0, axis=-1).astype(size.dtype)
    if p == 1:
        return jnp.sum(size, axis=-1)
    if p == 2:
        return jnp.sqrt(jnp.sum(size * size, axis=-1))
    if math.isinf(p):
        return jnp.max(size, axis=-1, initial=0)
    return jnp.power(jnp.sum(jnp.power(size, as_dtype(p, size.dtype)), axis=-1), as_dtype(1 / p, size.dtype))


def _slope(difference: Array, distance: Array, p: float) -> Array:
    """The derivative of the norm by each component of the difference; 0 where the distance is 0."""
    size, sign = jnp.abs(difference), jnp.sign(difference)
    distance = distance[..., None]
    if p == 0:
        return jnp.zeros_like(difference)
    if p == 1:
        return sign
    if math.isinf(p):
        return sign * (size == distance)
    ratio = size / jnp.where(distance == 0, as_dtype(1, distance.dtype), distance)
    power = ratio if p == 2 else jnp.power(ratio, as_dtype(p - 1, ratio.dtype))
    # Below 2 the slope of one component may be infinite where it is 0; ATen says 0 there.
    flat = (distance == 0) | ((size == 0) & (p < 2))
    return jnp.where(flat, as_dtype(0, ratio.dtype), sign * power)


@lowering("aten._cdist_forward.default", dtypes=FLOATING)
def _cdist(x: Array, y: Array, p: float, compute_mode: int | None) -> Array:  # noqa: ARG001
    """(..., n, d) and (..., m, d) -> (..., n, m)."""
    return _norm(x[..., :, None, :] - y[..., None, :, :], p)


@lowering("aten._cdist_backward.default", needs_out=True, dtypes=FLOATING)
def _cdist_backward(gradient: Array, x: Array, y: Array, p: float, distance: Array, *, out: Out) -> Array:
    """By x, its batches expanded, except where nothing flows: then ATen gives zeros of x's own shape."""
    if 0 in (*gradient.shape, x.shape[-1]):
        return jnp.zeros(out[0].static_shape, x.dtype)
    difference = x[..., :, None, :] - y[..., None, :, :]
    return jnp.sum(gradient[..., None] * _slope(difference, distance, p), axis=-2)


@lowering("aten._pdist_forward.default", dtypes=FLOATING)
def _pdist(x: Array, p: float) -> Array:
    """(n, d) -> the distances of all pairs of rows, the first before the second."""
    first, second = np.triu_indices(x.shape[0], 1)
    return _norm(x[first] - x[second], p)


@lowering("aten._pdist_backward.default", dtypes=FLOATING)
def _pdist_backward(gradient: Array, x: Array, p: float, distance: Array) -> Array:
    first, second = np.triu_indices(x.shape[0], 1)
    terms = gradient[:, None] * _slope(x[first] - x[second], distance, p)
    return jnp.zeros_like(x).at[first].add(terms).at[second].add(-terms)
