"""Loss functions."""

from __future__ import annotations

from enum import IntEnum

import jax.numpy as jnp

from lazycore_xla.lowerings.operands import Array, as_dtype, quotient
from lazycore_xla.registry import FLOATING, lowering

__all__ = ["Reduction", "class_weights"]


class Reduction(IntEnum):
    """ATen's numbers for a loss's reduction."""

    none = 0
    mean = 1
    sum = 2


def _reduced(loss: Array, reduction: int) -> Array:
    if reduction == Reduction.none:
        return loss
    return quotient(jnp.sum(loss), loss.size) if reduction == Reduction.mean else jnp.sum(loss)


@lowering("aten.mse_loss.default", widen=True, dtypes=FLOATING)
def _mse(x: Array, target: Array, reduction: int) -> Array:
    distance = x - target
    return _reduced(distance * distance, reduction)


@lowering("aten.smooth_l1_loss.default", widen=True, dtypes=FLOATING)
def _smooth_l1(x: Array, target: Array, reduction: int, beta: float) -> Array:
    distance = jnp.abs(x - target)
    if beta == 0:
        return _reduced(distance, reduction)
    return _reduced(jnp.where(distance < beta, 0.5 * distance * distance / beta, distance - 0.5 * beta), reduction)


@lowering("aten.huber_loss.default", widen=True, dtypes=FLOATING)
def _huber(x: Array, target: Array, reduction: int, delta: float) -> Array:
    distance = jnp.abs(x - target)
    quadratic = 0.5 * distance * distance
    return _reduced(jnp.where(distance <= delta, quadratic, delta * (distance - 0.5 * delta)), reduction)


@lowering("aten.binary_cross_entropy.default", widen=True, dtypes=FLOATING)
def _bce(x: Array, target: Array, weight: Array | None, reduction: int) -> Array:
    """Logarithms stop at -100, so that a certain wrong answer costs a finite sum."""
    log, log_not = jnp.maximum(jnp.log(x), -100), jnp.maximum(jnp.log1p(-x), -100)
    loss = (target - 1) * log_not - target * log
    return _reduced(loss if weight is None else loss * weight, reduction)


@lowering("aten.binary_cross_entropy_with_logits.default", widen=True, dtypes=FLOATING)
def _bce_logits(
    x: Array, target: Array, weight: Array | None, pos_weight: Array | None, reduction: int
) -> Array:  # fmt: skip
    log_sigmoid = jnp.minimum(x, 0) - jnp.log1p(jnp.exp(-jnp.abs(x)))
    factor = 1 if pos_weight is None else (pos_weight - 1) * target + 1
    loss = (1 - target) * x - factor * log_sigmoid
    return _reduced(loss if weight is None else loss * weight, reduction)


def class_weights(target: Array, weight: Array | None, ignore: int, like: Array) -> tuple[Array, Array]:
    """For every target its class, 0 where it is ignored, and its weight, 0 where it is ignored."""
    counted = target != ignore
    safe = jnp.where(counted, target, 0)
    chosen = jnp.ones(target.shape, like.dtype) if weight is None else weight.at[safe].get(mode="promise_in_bounds")
    return safe, jnp.where(counted, chosen, as_dtype(0, like.dtype))


@lowering("aten.nll_loss_forward.default", "aten.nll_loss2d_forward.default", widen=True)
def _nll(x: Array, target: Array, weight: Array | None, reduction: int, ignore: int) -> tuple[Array, Array]:
    """x is (classes,) or (n, classes, ...); the second output is the sum of the weights.

    Without reduction a batch gives 0 for that sum, as ATen does.
    """
    axis = min(1, x.ndim - 1)
    safe, weights = class_weights(target, weight, ignore, x)
    picked = jnp.take_along_axis(x, jnp.expand_dims(safe, axis), axis, mode="promise_in_bounds").squeeze(axis)
    picked = jnp.where(target != ignore, picked, as_dtype(0, x.dtype))
    losses, total = -weights * picked, jnp.sum(weights)
    if reduction == Reduction.none:
        return losses, total if x.ndim == 1 else jnp.zeros((), x.dtype)
    loss = jnp.sum(losses)
    return (loss / total if reduction == Reduction.mean else loss), total
