"""Losses and their gradients. ``reduction`` is ATen's code: 0 leaves the elements, 1 means, 2 sums."""

# To mypy, arithmetic on arrays of any dtype is Any.
# mypy: disable-error-code="no-any-return"

from __future__ import annotations

from typing import Any

import numpy as np

from lazycore_reference.registry import Array, lowering

MEAN, SUM = 1, 2


def _reduced(loss: Array, reduction: int) -> Array:
    if reduction == MEAN:
        return np.sum(loss) / loss.dtype.type(loss.size)
    return np.asarray(np.sum(loss)) if reduction == SUM else loss


def _share(grad: Array, x: Array, reduction: int) -> Array:
    """The gradient that each element of the loss gets."""
    return grad / x.dtype.type(x.size) if reduction == MEAN else grad


def _class_axis(x: Array) -> int:
    return 1 if x.ndim > 1 else 0


def _class_weights(x: Array, target: Array, weight: Array | None, ignored: int) -> tuple[Array, Array]:
    """Targets with the ignored ones made valid, and each sample's weight: 0 where ignored."""
    kept = target != ignored
    valid = np.where(kept, target, 0)
    weights = np.ones(target.shape, x.dtype) if weight is None else weight[valid]
    return valid, np.where(kept, weights, x.dtype.type(0))


@lowering("aten.nll_loss_forward.default", "aten.nll_loss2d_forward.default")
def nll_loss(x: Array, target: Array, weight: Array | None, reduction: int, ignored: int) -> tuple[Array, Array]:
    """The negative log likelihood of the target classes, and the total weight that the mean divides by."""
    axis = _class_axis(x)
    valid, weights = _class_weights(x, target, weight, ignored)
    picked = np.take_along_axis(x, np.expand_dims(valid, axis), axis).squeeze(axis)
    losses = np.where(weights == 0, x.dtype.type(0), -picked * weights)
    if reduction == 0 and x.ndim > 1:
        return losses, np.zeros((), x.dtype)
    total = np.asarray(np.sum(weights))
    loss = np.asarray(np.sum(losses))
    return (loss / total if reduction == MEAN else loss), total


@lowering("aten.nll_loss_backward.default", "aten.nll_loss2d_backward.default")
def nll_loss_backward(
    grad: Array, x: Array, target: Array, weight: Array | None, reduction: int, ignored: int, total: Array
) -> Array:
    """Minus the weight at each target class, 0 elsewhere."""
    axis = _class_axis(x)
    valid, weights = _class_weights(x, target, weight, ignored)
    share = grad / total if reduction == MEAN else grad
    values = np.where(weights == 0, x.dtype.type(0), -weights * share)
    result = np.zeros(x.shape, x.dtype)
    np.put_along_axis(result, np.expand_dims(valid, axis), np.expand_dims(values, axis), axis)
    return result


@lowering("aten.mse_loss.default")
def mse_loss(x: Array, target: Array, reduction: int) -> Array:
    """The squared difference."""
    return _reduced(np.square(x - target), reduction)


@lowering("aten.mse_loss_backward.default")
def mse_loss_backward(grad: Array, x: Array, target: Array, reduction: int) -> Array:
    """2 * (x - target) * grad."""
    return 2 * (x - target) * _share(grad, x, reduction)


@lowering("aten.smooth_l1_loss.default")
def smooth_l1_loss(x: Array, target: Array, reduction: int, beta: float) -> Array:
    """The difference squared over 2 * beta below beta, else the difference less beta / 2."""
    z = np.abs(x - target)
    beta = x.dtype.type(beta)
    return _reduced(np.where(z < beta, 0.5 * z * z / beta, z - 0.5 * beta), reduction)


@lowering("aten.smooth_l1_loss_backward.default")
def smooth_l1_loss_backward(grad: Array, x: Array, target: Array, reduction: int, beta: float) -> Array:
    """The difference over beta, cut off at -1 and 1, times grad."""
    share, d, beta = _share(grad, x, reduction), x - target, x.dtype.type(beta)
    return np.where(d <= -beta, -share, np.where(d >= beta, share, d * share / beta))


@lowering("aten.huber_loss.default")
def huber_loss(x: Array, target: Array, reduction: int, delta: float) -> Array:
    """Half the squared difference up to delta, else delta * (difference - delta / 2)."""
    z, delta = np.abs(x - target), x.dtype.type(delta)
    return _reduced(np.where(z <= delta, 0.5 * z * z, delta * (z - 0.5 * delta)), reduction)


@lowering("aten.huber_loss_backward.default")
def huber_loss_backward(grad: Array, x: Array, target: Array, reduction: int, delta: float) -> Array:
    """The difference, cut off at -delta and delta, times grad."""
    d, delta = x - target, x.dtype.type(delta)
    return np.minimum(np.maximum(d, -delta), delta) * _share(grad, x, reduction)


def _weighted(x: Array, weight: Any) -> Array:
    return x if weight is None else x * weight


@lowering("aten.binary_cross_entropy.default")
def binary_cross_entropy(x: Array, target: Array, weight: Array | None, reduction: int) -> Array:
    """-(target * log(x) + (1 - target) * log(1 - x)), logarithms not below -100."""
    floor = x.dtype.type(-100)
    yes, no = np.maximum(np.log(x), floor), np.maximum(np.log1p(-x), floor)
    return _reduced(_weighted((target - 1) * no - target * yes, weight), reduction)


@lowering("aten.binary_cross_entropy_backward.default")
def binary_cross_entropy_backward(grad: Array, x: Array, target: Array, weight: Array | None, reduction: int) -> Array:
    """grad * (x - target) / (x * (1 - x)), the divisor not below 1e-12."""
    divisor = np.maximum((1 - x) * x, x.dtype.type(1e-12))
    return _weighted(_share(grad, x, reduction) * (x - target) / divisor, weight)


@lowering("aten.binary_cross_entropy_with_logits.default")
def binary_cross_entropy_with_logits(
    x: Array, target: Array, weight: Array | None, positive: Array | None, reduction: int
) -> Array:
    """Binary cross entropy of sigmoid(x); ``positive`` weighs the positive class."""
    log_sigmoid = np.minimum(x, 0) - np.log1p(np.exp(-np.abs(x)))
    factor = 1 if positive is None else 1 + (positive - 1) * target
    return _reduced(_weighted((1 - target) * x - factor * log_sigmoid, weight), reduction)
