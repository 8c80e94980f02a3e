"""Gradients of the margin losses over classes; their forward passes are made of smaller ops."""

from __future__ import annotations

import jax.numpy as jnp
from jax import lax

from lazycore_xla.lowerings.loss import Reduction
from lazycore_xla.lowerings.operands import Array, Scalar, as_dtype
from lazycore_xla.registry import lowering

__all__: list[str] = []


def _spread(gradient: Array, rows: int, reduction: int) -> Array:
    """The loss's gradient as each row sees it, shape (rows or 1, 1)."""
    shared = gradient / rows if reduction == Reduction.mean else gradient
    return shared.reshape(-1, 1)


def _rows(x: Array) -> Array:
    """(N, C), (C,) or one number () as rows of classes."""
    return x.reshape(-1, x.shape[-1] if x.ndim else 1)


@lowering("aten.multi_margin_loss_backward.default", widen=True)
def _multi_margin(
    gradient: Array,
    x: Array,
    target: Array,
    p: Scalar,
    margin: Scalar,
    weight: Array | None = None,
    reduction: int = Reduction.mean,
) -> Array:
    """Of sum over other classes of max(0, margin - x[target] + x[class]) ** p / classes."""
    rows = _rows(x)
    classes = lax.broadcasted_iota(jnp.int64, rows.shape, 1)
    own = target.reshape(-1, 1)
    excess = as_dtype(margin, x.dtype) - jnp.take_along_axis(rows, own, 1) + rows
    slope = jnp.ones_like(excess) if p == 1 else 2 * excess
    slope = slope if weight is None else slope * weight[own]
    push = jnp.where((excess > 0) & (classes != own), slope / rows.shape[1], 0)
    push = jnp.where(classes == own, -jnp.sum(push, axis=1, keepdims=True), push)
    return (push * _spread(gradient, rows.shape[0], reduction)).reshape(x.shape)


@lowering("aten.multilabel_margin_loss_backward.default", widen=True)
def _multilabel_margin(gradient: Array, x: Array, target: Array, reduction: int, is_target: Array) -> Array:
    """Of sum over labels and other classes of max(0, 1 - x[label] + x[class]) / classes; -1 ends a row's labels."""
    rows, labels, marked = map(_rows, (x, target, is_target))
    listed = jnp.cumsum(labels < 0, axis=1) == 0
    label = jnp.where(listed, labels, 0)
    scores = jnp.take_along_axis(rows, label, 1)
    violated = (1 - scores[:, :, None] + rows[:, None, :] > 0) & listed[:, :, None] & (marked == 0)[:, None, :]
    push = violated.astype(x.dtype) / rows.shape[1]
    lines = jnp.arange(rows.shape[0])[:, None]
    result = jnp.sum(push, axis=1).at[lines, label].add(-jnp.sum(push, axis=2))
    return (result * _spread(gradient, rows.shape[0], reduction)).reshape(x.shape)
