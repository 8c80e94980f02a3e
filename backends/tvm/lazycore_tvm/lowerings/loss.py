"""Losses and their gradients. ``reduction`` is ATen's code: 0 leaves the elements, 1 means, 2 sums."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from lazycore_plugin_api import DType, TensorSpec

from lazycore_tvm.arrays import Array, elementwise, staged, widened
from lazycore_tvm.lowerings.reduction import finished
from lazycore_tvm.reductions import total
from lazycore_tvm.registry import FLOATS, Kind, lowering
from lazycore_tvm.scalars import Expr, at_most, call, largest, like, literal, negative, select, smallest, sub
from lazycore_tvm.sizes import long
from lazycore_tvm.tvm_runtime import tvm

tir = tvm.tirx
Out: TypeAlias = list[TensorSpec]
MEAN, SUM = 1, 2
_TARGETS = FLOATS | {DType.int64}


def _reduced(loss: Array, reduction: int, spec: TensorSpec) -> Array:
    if reduction == 0:
        return finished(loss, spec)
    result = total(loss, tuple(range(loss.ndim)))
    if reduction == MEAN:
        result = elementwise(lambda v: v / like(loss.size, v), result, dtype=result.dtype)
    return finished(result, spec)


def _loss(name: str, function: Callable[..., Expr]) -> None:
    def lower(x: Array, target: Array, reduction: int, *numbers: float, out: Out) -> Array:
        wide = widened(x)
        loss = elementwise(lambda a, b: function(a, b, *numbers), wide, widened(target), dtype=wide.dtype)
        return _reduced(loss, reduction, out[0])

    lowering(name, kind=Kind.kernel, dtypes=FLOATS, needs_out=True)(lower)


def _gradient(name: str, function: Callable[..., Expr]) -> None:
    def lower(grad: Array, x: Array, target: Array, reduction: int, *numbers: float) -> Array:
        at = lambda g, a, b: function(_share(g, x, reduction), a, b, *numbers)  # noqa: E731
        return elementwise(at, grad, x, target, dtype=x.dtype)

    lowering(name, dtypes=FLOATS)(lower)


def _share(grad: Expr, x: Array, reduction: int) -> Expr:
    """The gradient that each element of the loss gets."""
    return grad / like(x.size, grad) if reduction == MEAN else grad


def _square(x: Expr, y: Expr) -> Expr:
    return sub(x, y) * sub(x, y)


def _smooth(x: Expr, y: Expr, beta: float) -> Expr:
    z, bound = tir.abs(sub(x, y)), like(beta, x)
    return select(z < bound, like(0.5, x) * z * z / bound, sub(z, like(0.5 * beta, x)))


def _huber(x: Expr, y: Expr, delta: float) -> Expr:
    z, bound = tir.abs(sub(x, y)), like(delta, x)
    return select(at_most(z, bound), like(0.5, x) * z * z, bound * sub(z, like(0.5 * delta, x)))


def _smooth_gradient(g: Expr, x: Expr, y: Expr, beta: float) -> Expr:
    d, bound = sub(x, y), like(beta, x)
    return select(at_most(d, negative(bound)), negative(g), select(at_most(bound, d), g, d * g / bound))


def _huber_gradient(g: Expr, x: Expr, y: Expr, delta: float) -> Expr:
    bound = like(delta, x)
    return smallest(largest(sub(x, y), negative(bound)), bound) * g


_loss("mse_loss", _square)
_loss("smooth_l1_loss", _smooth)
_loss("huber_loss", _huber)
_gradient("mse_loss_backward", lambda g, x, y: like(2, x) * sub(x, y) * g)
_gradient("smooth_l1_loss_backward", _smooth_gradient)
_gradient("huber_loss_backward", _huber_gradient)


def _weighted(loss: Array, weight: Array | None) -> Array:
    return loss if weight is None else elementwise(lambda v, w: v * w, loss, widened(weight), dtype=loss.dtype)


@lowering("binary_cross_entropy", kind=Kind.kernel, dtypes=FLOATS, needs_out=True)
def cross_entropy(x: Array, target: Array, weight: Array | None, reduction: int, *, out: Out) -> Array:
    """-(target * log(x) + (1 - target) * log(1 - x)), logarithms not below -100."""

    def at(v: Expr, t: Expr) -> Expr:
        floor = like(-100, v)
        yes, no = largest(call("log", v), floor), largest(call("log1p", negative(v)), floor)
        return sub(sub(t, like(1, t)) * no, t * yes)

    wide = widened(x)
    return _reduced(_weighted(elementwise(at, wide, widened(target), dtype=wide.dtype), weight), reduction, out[0])


@lowering("binary_cross_entropy_backward", dtypes=FLOATS)
def cross_entropy_backward(grad: Array, x: Array, target: Array, weight: Array | None, reduction: int) -> Array:
    """grad * (x - target) / (x * (1 - x)), the divisor not below 1e-12."""

    def at(g: Expr, v: Expr, t: Expr, *w: Expr) -> Expr:
        divisor = largest(sub(like(1, v), v) * v, like(1e-12, v))
        result = _share(g, x, reduction) * sub(v, t) / divisor
        return result * w[0] if w else result

    return elementwise(at, grad, x, target, *([] if weight is None else [weight]), dtype=x.dtype)


@lowering("binary_cross_entropy_with_logits", kind=Kind.kernel, dtypes=FLOATS, needs_out=True)
def cross_entropy_with_logits(
    x: Array, target: Array, weight: Array | None, positive: Array | None, reduction: int, *, out: Out
) -> Array:
    """Binary cross entropy of sigmoid(x); ``positive`` weighs the positive class."""

    def at(v: Expr, t: Expr, *p: Expr) -> Expr:
        one = like(1, v)
        log_sigmoid = sub(smallest(v, like(0, v)), call("log1p", call("exp", negative(tir.abs(v)))))
        factor = one + sub(p[0], one) * t if p else one
        return sub(sub(one, t) * v, factor * log_sigmoid)

    wide = widened(x)
    extra = [] if positive is None else [widened(positive)]
    return _reduced(
        _weighted(elementwise(at, wide, widened(target), *extra, dtype=wide.dtype), weight), reduction, out[0]
    )


def _class_axis(x: Array) -> int:
    return 1 if x.ndim > 1 else 0


def _class(target: Expr, ignored: int, classes: int) -> Expr:
    """A target as a position that can be read: 0 where it is ignored, and never out of range."""
    valid = select(tir.EQ(target, tir.const(ignored, "int64")), tir.const(0, "int64"), target)
    return tir.Cast("int32", tir.max(tir.min(valid, long(classes - 1)), tir.const(0, "int64")))


def _weights(x: Array, target: Array, weight: Array | None, ignored: int) -> Array:
    """Each sample's weight: 0 where it is ignored."""
    dtype, classes = widened(x).dtype, x.shape[_class_axis(x)]

    # Not by ``elementwise``, which names its operands: TVM wants to know what is read without such names.
    def at(*i: Expr) -> Expr:
        t = target.at(*i)
        own = literal(1, dtype) if weight is None else weight.at(_class(t, ignored, classes))
        return select(tir.EQ(t, tir.const(ignored, "int64")), literal(0, dtype), own)

    return Array(target.shape, dtype, at, None, 1)


@lowering("nll_loss_forward", "nll_loss2d_forward", kind=Kind.kernel, dtypes=_TARGETS, needs_out=True, rereads=True)
def nll_loss(
    x: Array, target: Array, weight: Array | None, reduction: int, ignored: int, *, out: Out
) -> tuple[Array, Array]:
    """The negative log likelihood of the target classes, and the total weight that the mean divides by."""
    axis, wide = _class_axis(x), widened(x)

    def picked(*i: Expr) -> Expr:
        place = _class(target.at(*i), ignored, x.shape[axis])
        return wide.at(*i[:axis], place, *i[axis:])

    weights = _weights(x, target, weight, ignored)
    at = lambda v, w: select(tir.EQ(w, like(0, w)), like(0, w), negative(v) * w)  # noqa: E731
    losses = elementwise(at, Array(target.shape, wide.dtype, picked, None, 1), weights, dtype=wide.dtype)
    if reduction == 0 and x.ndim > 1:
        nothing = Array((), wide.dtype, lambda: literal(0, wide.dtype), None, 1)
        return finished(losses, out[0]), finished(nothing, out[1])
    axes = tuple(range(target.ndim))
    loss, whole = total(losses, axes), staged(total(weights, axes))
    if reduction == MEAN:
        loss = elementwise(lambda v, w: v / w, loss, whole, dtype=wide.dtype)
    return finished(loss, out[0]), finished(whole, out[1])


@lowering("nll_loss_backward", "nll_loss2d_backward", kind=Kind.kernel, dtypes=_TARGETS, rereads=True)
def nll_loss_backward(
    grad: Array, x: Array, target: Array, weight: Array | None, reduction: int, ignored: int, whole: Array
) -> Array:
    """Minus the weight at each target class, 0 elsewhere."""
    axis, weights = _class_axis(x), _weights(x, target, weight, ignored)
    wide = widened(x)

    def at(*i: Expr) -> Expr:
        place = (*i[:axis], *i[axis + 1 :])[: target.ndim]
        share = grad.at(*(place if grad.ndim else ()))
        share = share / whole.at() if reduction == MEAN else share
        w = weights.at(*place)
        hit = tir.all(tir.EQ(tir.Cast("int64", i[axis]), target.at(*place)), tir.Not(tir.EQ(w, like(0, w))))
        return select(hit, negative(w) * share, like(0, w))

    raw = Array(x.shape, wide.dtype, at, None, 1)
    return elementwise(lambda v: v, raw, dtype=x.dtype)
