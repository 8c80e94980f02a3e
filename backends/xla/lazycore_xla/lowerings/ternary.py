"""Elementwise selection, clamping and fused multiply-adds."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax import lax

from lazycore_xla.lowerings.operands import Array, Scalar, as_dtype, quotient
from lazycore_xla.registry import ANY, NUMERIC, lowering

__all__ = ["clamp"]


@lowering("aten.where.self", dtypes=ANY)
def _where(condition: Array, x: Array, y: Array) -> Array:
    return jnp.where(condition.astype(bool), x, y)


@lowering("aten.masked_fill.Scalar", "aten.masked_fill.Tensor", dtypes=ANY)
def _masked_fill(x: Array, mask: Array, value: Scalar) -> Array:
    return jnp.where(mask, as_dtype(value, x.dtype), x)


@lowering("aten.clamp.default", "aten.clamp.Tensor", widen=True)
def clamp(x: Array, low: Scalar | None = None, high: Scalar | None = None) -> Array:
    """NaN stays NaN, in x and in a bound; where the bounds cross, the upper one wins."""
    x = _clamp_min(x, low) if low is not None else x
    return _clamp_max(x, high) if high is not None else x


@lowering("aten.clamp_min.default", "aten.clamp_min.Tensor", widen=True)
def _clamp_min(x: Array, low: Scalar) -> Array:
    return lax.max(*jnp.broadcast_arrays(x, as_dtype(low, x.dtype)))


@lowering("aten.clamp_max.default", "aten.clamp_max.Tensor", widen=True)
def _clamp_max(x: Array, high: Scalar) -> Array:
    return lax.min(*jnp.broadcast_arrays(x, as_dtype(high, x.dtype)))


@lowering("aten.addcmul.default", widen=True, dtypes=NUMERIC)
def _addcmul(x: Array, first: Array, second: Array, *, value: Scalar) -> Array:
    return x + as_dtype(value, x.dtype) * first * second


@lowering("aten.addcdiv.default", widen=True, dtypes=NUMERIC)
def _addcdiv(x: Array, numerator: Array, denominator: Array, *, value: Scalar) -> Array:
    return x + quotient(as_dtype(value, x.dtype) * numerator, denominator)


@lowering("aten.lerp.Scalar", "aten.lerp.Tensor", widen=True)
def _lerp(start: Array, end: Array, weight: Scalar) -> Array:
    """From whichever end is nearer, so that weight 1 gives ``end`` exactly."""
    if not isinstance(weight, jax.Array):
        return _from_start(start, end, weight) if abs(weight) < 0.5 else _from_end(start, end, weight)
    return jnp.where(jnp.abs(weight) < 0.5, _from_start(start, end, weight), _from_end(start, end, weight))


def _from_start(start: Array, end: Array, weight: Scalar) -> Array:
    return start + as_dtype(weight, start.dtype) * (end - start)


def _from_end(start: Array, end: Array, weight: Scalar) -> Array:
    return end - (end - start) * (as_dtype(1, start.dtype) - as_dtype(weight, start.dtype))


@lowering("aten.threshold.default")
def _threshold(x: Array, threshold: Scalar, value: Scalar) -> Array:
    return jnp.where(x <= as_dtype(threshold, x.dtype), as_dtype(value, x.dtype), x)
