"""Gradients of loss functions."""

from __future__ import annotations

import jax.numpy as jnp
from jax import lax

from lazycore_xla.lowerings.loss import Reduction, class_weights
from lazycore_xla.lowerings.operands import Array, as_dtype
from lazycore_xla.registry import FLOATING, lowering

__all__: list[str] = []


def _spread(gradient: Array, like: Array, reduction: int) -> Array:
    """The loss's gradient as each element sees it: divided by their number where the loss was a mean."""
    return gradient / as_dtype(like.size, like.dtype) if reduction == Reduction.mean else gradient


def _broadcast(x: Array, target: Array) -> tuple[Array, Array]:
    first, second = jnp.broadcast_arrays(x, target)
    return first, second


@lowering("aten.mse_loss_backward.default", widen=True, dtypes=FLOATING)
def _mse(gradient: Array, x: Array, target: Array, reduction: int) -> Array:
    x, target = _broadcast(x, target)
    return 2 * (x - target) * _spread(gradient, x, reduction)


@lowering("aten.smooth_l1_loss_backward.default", widen=True, dtypes=FLOATING)
def _smooth_l1(gradient: Array, x: Array, target: Array, reduction: int, beta: float) -> Array:
    x, target = _broadcast(x, target)
    distance, incoming = x - target, _spread(gradient, x, reduction)
    inner = distance * incoming / as_dtype(beta, x.dtype)
    return jnp.where(distance <= -beta, -incoming, jnp.where(distance >= beta, incoming, inner))


@lowering("aten.huber_loss_backward.default", widen=True, dtypes=FLOATING)
def _huber(gradient: Array, x: Array, target: Array, reduction: int, delta: float) -> Array:
    x, target = _broadcast(x, target)
    distance, incoming = x - target, _spread(gradient, x, reduction)
    outer = jnp.where(distance >= delta, incoming * delta, distance * incoming)
    return jnp.where(distance <= -delta, -incoming * delta, outer)


@lowering("aten.binary_cross_entropy_backward.default", widen=True, dtypes=FLOATING)
def _bce(gradient: Array, x: Array, target: Array, weight: Array | None, reduction: int) -> Array:
    slope = (x - target) / jnp.maximum((1 - x) * x, 1e-12)
    slope = slope if weight is None else slope * weight
    return _spread(gradient, x, reduction) * slope


@lowering("aten.nll_loss_backward.default", "aten.nll_loss2d_backward.default", widen=True)
def _nll(
    gradient: Array, x: Array, target: Array, weight: Array | None, reduction: int, ignore: int, total_weight: Array
) -> Array:
    """Minus the weight at each target's class, 0 elsewhere; as a comparison, which fuses where a scatter would not."""
    axis = min(1, x.ndim - 1)
    safe, weights = class_weights(target, weight, ignore, x)
    value = -weights * gradient
    value = value / total_weight if reduction == Reduction.mean else value
    value = jnp.where(target == ignore, as_dtype(0, x.dtype), value)
    classes = lax.broadcasted_iota(safe.dtype, x.shape, axis)
    hit = classes == jnp.expand_dims(safe, axis)
    return jnp.where(hit, jnp.expand_dims(value, axis), as_dtype(0, x.dtype))
