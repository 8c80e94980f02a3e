"""Batch, layer and group normalization. Statistics are means and reciprocal deviations, as ATen saves them."""

# Signatures are ATen's, also where an argument does not matter here.
# ruff: noqa: ARG001
# To mypy, arithmetic on arrays of any dtype is Any.
# mypy: disable-error-code="no-any-return"

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from lazycore_reference.lowerings.reduction import count, moments
from lazycore_reference.registry import Array, lowering

Mask = tuple[bool, bool, bool]
Gradients = tuple[Array | None, Array | None, Array | None]


def _channels(v: Array, ndim: int) -> Array:
    """A vector over channels, shaped to broadcast along dimension 1."""
    return v.reshape(1, -1, *(1,) * (ndim - 2))


def _affine(x: Array, weight: Array | None, bias: Array | None) -> Array:
    scaled = x if weight is None else x * weight
    return scaled if bias is None else scaled + bias


def _shaped(v: Array | None, ndim: int) -> Array | None:
    return None if v is None else _channels(v, ndim)


def _other_axes(x: Array) -> tuple[int, ...]:
    return (0, *range(2, x.ndim))


def _by_batch(x: Array, weight: Array | None, bias: Array | None, eps: float) -> tuple[Array, Array, Array, Array]:
    """Normalized by the batch's own statistics: result, mean, reciprocal deviation, variance."""
    mean, variance = moments(x, _other_axes(x))
    invstd = np.reciprocal(np.sqrt(variance + x.dtype.type(eps)))
    y = _affine((x - mean) * invstd, _shaped(weight, x.ndim), _shaped(bias, x.ndim))
    return y, mean.reshape(-1), invstd.reshape(-1), variance.reshape(-1)


@lowering("aten._native_batch_norm_legit_functional.default")
def batch_norm(
    x: Array,
    weight: Array | None,
    bias: Array | None,
    mean: Array,
    var: Array,
    training: bool,
    momentum: float,
    eps: float,
) -> tuple[Any, ...]:
    """Result, saved mean, saved reciprocal deviation, new running mean, new running (unbiased) variance.

    In evaluation the running statistics normalize and nothing is saved.
    """
    if not training:
        invstd = np.reciprocal(np.sqrt(var + var.dtype.type(eps)))
        normal = (x - _channels(mean, x.ndim)) * _channels(invstd, x.ndim)
        return _affine(normal, _shaped(weight, x.ndim), _shaped(bias, x.ndim)), None, None, mean, var
    y, batch_mean, invstd, batch_var = _by_batch(x, weight, bias, eps)
    n = count(x, _other_axes(x))
    unbiased = batch_var * x.dtype.type(n) / x.dtype.type(n - 1)
    return y, batch_mean, invstd, _moved(mean, batch_mean, momentum), _moved(var, unbiased, momentum)


def _moved(old: Array, new: Array, momentum: float) -> Array:
    return old * (1 - momentum) + new * momentum


@lowering("aten._native_batch_norm_legit.no_stats")
def batch_norm_no_stats(
    x: Array,
    weight: Array | None,
    bias: Array | None,
    training: bool,
    momentum: float,
    eps: float,
) -> tuple[Array, Array, Array]:
    """Result, mean and reciprocal deviation of the batch; there are no running statistics, in evaluation either."""
    return _by_batch(x, weight, bias, eps)[:3]


@lowering("aten.native_batch_norm_backward.default")
def batch_norm_backward(
    grad: Array, x: Array, weight: Array | None, mean: Array | None, var: Array | None, saved_mean: Array | None,
    saved_invstd: Array | None, train: bool, eps: float, mask: Mask,
) -> Gradients:  # fmt: skip
    """Gradients for input, weight and bias, from saved statistics in training, else from running ones."""
    if train:
        assert saved_mean is not None
        assert saved_invstd is not None
        center, invstd = saved_mean, saved_invstd
    else:
        assert mean is not None
        assert var is not None
        center, invstd = mean, np.reciprocal(np.sqrt(var + var.dtype.type(eps)))
    axes, scale = _other_axes(x), _channels(invstd, x.ndim)
    normal = (x - _channels(center, x.ndim)) * scale
    dw, db = np.sum(grad * normal, axis=axes), np.sum(grad, axis=axes)
    dx = grad
    if train:
        n = x.dtype.type(count(x, axes))
        dx = grad - _channels(db / n, x.ndim) - normal * _channels(dw / n, x.ndim)
    dx = _affine(dx * scale, _shaped(weight, x.ndim), None)
    return dx if mask[0] else None, dw if mask[1] else None, db if mask[2] else None


def _inner_axes(x: Array, normalized: Sequence[int]) -> tuple[int, ...]:
    return tuple(range(x.ndim - len(normalized), x.ndim))


@lowering("aten.native_layer_norm.default")
def layer_norm(
    x: Array, normalized: Any, weight: Array | None, bias: Array | None, eps: float
) -> tuple[Array, Array, Array]:
    """Result, mean and reciprocal deviation over the trailing dimensions, which the statistics keep as 1."""
    mean, variance = moments(x, _inner_axes(x, normalized))
    rstd = np.reciprocal(np.sqrt(variance + x.dtype.type(eps)))
    return _affine((x - mean) * rstd, weight, bias), mean, rstd


@lowering("aten.native_layer_norm_backward.default")
def layer_norm_backward(
    grad: Array,
    x: Array,
    normalized: Any,
    mean: Array,
    rstd: Array,
    weight: Array | None,
    bias: Array | None,
    mask: Mask,
) -> Gradients:
    """Gradients for input, weight and bias."""
    inner = _inner_axes(x, normalized)
    outer = tuple(range(x.ndim - len(normalized)))
    normal = (x - mean) * rstd
    dx = _normalized_gradient(_affine(grad, weight, None), normal, rstd, inner) if mask[0] else None
    dw = np.sum(grad * normal, axis=outer) if mask[1] else None
    return dx, dw, np.sum(grad, axis=outer) if mask[2] else None


def _normalized_gradient(grad: Array, normal: Array, rstd: Array, axes: tuple[int, ...]) -> Array:
    """rstd * (grad - mean(grad) - normal * mean(grad * normal)), means over the normalized axes."""
    n = grad.dtype.type(count(grad, axes))
    mean = np.sum(grad, axis=axes, keepdims=True) / n
    projection = np.sum(grad * normal, axis=axes, keepdims=True) / n
    return (grad - mean - normal * projection) * rstd


@lowering("aten.native_group_norm.default")
def group_norm(
    x: Array, weight: Array | None, bias: Array | None, n: int, c: int, inner: int, groups: int, eps: float
) -> tuple[Array, Array, Array]:
    """Result, and per sample and group the mean and the reciprocal deviation."""
    grouped = x.reshape(n, groups, c // groups * inner)
    mean, variance = moments(grouped, (2,))
    rstd = np.reciprocal(np.sqrt(variance + x.dtype.type(eps)))
    normal = ((grouped - mean) * rstd).reshape(x.shape)
    y = _affine(normal, _shaped(weight, x.ndim), _shaped(bias, x.ndim))
    return y, mean.reshape(n, groups), rstd.reshape(n, groups)


@lowering("aten.native_group_norm_backward.default")
def group_norm_backward(
    grad: Array,
    x: Array,
    mean: Array,
    rstd: Array,
    weight: Array | None,
    n: int,
    c: int,
    inner: int,
    groups: int,
    mask: Mask,
) -> Gradients:
    """Gradients for input, weight and bias."""
    shape = (n, groups, c // groups * inner)
    normal = (x.reshape(shape) - mean[..., None]) * rstd[..., None]
    scaled = _affine(grad, _shaped(weight, x.ndim), None).reshape(shape)
    dx = _normalized_gradient(scaled, normal, rstd[..., None], (2,)).reshape(x.shape) if mask[0] else None
    axes = _other_axes(x)
    dw = np.sum(grad * normal.reshape(x.shape), axis=axes) if mask[1] else None
    return dx, dw, np.sum(grad, axis=axes) if mask[2] else None
