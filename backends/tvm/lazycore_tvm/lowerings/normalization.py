"""Batch, layer and group normalization. Statistics are means and reciprocal deviations, as ATen saves them."""

# Signatures are ATen's, also where an argument does not matter here.
# ruff: noqa: ARG001

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

from lazycore_plugin_api import TensorSpec

from lazycore_tvm.arrays import Array, elementwise, remainder, staged, widened
from lazycore_tvm.lowerings.reduction import finished
from lazycore_tvm.operands import count
from lazycore_tvm.reductions import mean as mean_of
from lazycore_tvm.reductions import moments, total
from lazycore_tvm.registry import FLOATS, Kind, lowering
from lazycore_tvm.scalars import Expr, like, sub
from lazycore_tvm.sizes import elements
from lazycore_tvm.tvm_runtime import tvm

tir = tvm.tirx
Mask: TypeAlias = tuple[bool, bool, bool]
Out: TypeAlias = list[TensorSpec]


def _each(function: Any, *operands: Array) -> Array:
    return elementwise(function, *operands, dtype=operands[0].dtype)


def _times(x: Array, y: Array) -> Array:
    return _each(lambda a, b: a * b, x, y)


def _affine(x: Array, weight: Array | None, bias: Array | None) -> Array:
    scaled = x if weight is None else _times(x, weight)
    return scaled if bias is None else _each(lambda a, b: a + b, scaled, bias)


def _reciprocal_deviation(variance: Array, eps: float) -> Array:
    return staged(_each(lambda v: like(1, v) / tir.sqrt(v + like(eps, v)), variance))


def _normal(x: Array, mean: Array, rstd: Array) -> Array:
    return _each(lambda v, m, r: sub(v, m) * r, x, mean, rstd)


def _channels(v: Array | None, ndim: int) -> Array | None:
    """A vector over channels, shaped to broadcast along dimension 1."""
    return None if v is None else widened(v).reshaped((1, v.size, *(1,) * (ndim - 2)))


def _other_axes(x: Array) -> tuple[int, ...]:
    return (0, *range(2, x.ndim))


def _results(pairs: Sequence[Array | None], out: Out) -> tuple[Array | None, ...]:
    """Results in their declared form; None for one that was not asked for."""
    rows = zip(pairs, out, strict=True)
    return tuple(finished(array, spec) if array is not None and elements(spec) else None for array, spec in rows)


def _by_batch(x: Array, weight: Array | None, bias: Array | None, eps: float) -> tuple[Array, Array, Array, Array]:
    """Normalized by the batch's own statistics: result, mean, reciprocal deviation, variance."""
    wide = widened(x)
    mean, variance = moments(wide, _other_axes(x))
    rstd = _reciprocal_deviation(variance, eps)
    y = _affine(_normal(wide, mean, rstd), _channels(weight, x.ndim), _channels(bias, x.ndim))
    return y, mean, rstd, variance


def _moved(old: Array, new: Array, momentum: float) -> Array:
    flat = new.reshaped((new.size,))
    return _each(lambda a, b: a * like(1 - momentum, a) + b * like(momentum, a), widened(old), flat)


_NORM: dict[str, Any] = {"kind": Kind.kernel, "dtypes": FLOATS, "needs_out": True, "rereads": True}
# Without statistics or gradients that nobody asked for, operands may be empty where the result is not.
_LOOSE: dict[str, Any] = {**_NORM, "empty": True}
_GROUPS: dict[str, Any] = {**_LOOSE, "divides": True}


@lowering("_native_batch_norm_legit_functional", **_LOOSE)
def batch_norm(
    x: Array, weight: Array | None, bias: Array | None, mean: Array, var: Array, training: bool, momentum: float,
    eps: float, *, out: Out,
) -> tuple[Array | None, ...]:  # fmt: skip
    """Result, saved mean, saved reciprocal deviation, new running mean, new running (unbiased) variance.

    In evaluation the running statistics normalize and nothing is saved.
    """
    if not training:
        center, spread = _channels(mean, x.ndim), _channels(var, x.ndim)
        assert center is not None
        assert spread is not None
        normal = _normal(widened(x), center, _reciprocal_deviation(spread, eps))
        y = _affine(normal, _channels(weight, x.ndim), _channels(bias, x.ndim))
        return _results((y, None, None, mean, var), out)
    y, center, rstd, variance = _by_batch(x, weight, bias, eps)
    n = count(x.shape, _other_axes(x))
    unbiased = _each(lambda v: v * like(n, v) / like(n - 1, v), variance)
    moved = _moved(mean, center, momentum), _moved(var, unbiased, momentum)
    return _results((y, center, rstd, *moved), out)


@lowering("_native_batch_norm_legit.no_stats", **_NORM)
def batch_norm_no_stats(
    x: Array, weight: Array | None, bias: Array | None, training: bool, momentum: float, eps: float, *, out: Out
) -> tuple[Array | None, ...]:
    """Result, mean and reciprocal deviation of the batch; there are no running statistics, in evaluation either."""
    return _results(_by_batch(x, weight, bias, eps)[:3], out)


@lowering("native_batch_norm_backward", **_LOOSE)
def batch_norm_backward(
    grad: Array, x: Array, weight: Array | None, mean: Array | None, var: Array | None, saved_mean: Array | None,
    saved_invstd: Array | None, train: bool, eps: float, mask: Mask, *, out: Out,
) -> tuple[Array | None, ...]:  # fmt: skip
    """Gradients for input, weight and bias, from saved statistics in training, else from running ones."""
    center = _channels(saved_mean if train else mean, x.ndim)
    scale = _channels(saved_invstd if train else var, x.ndim)
    assert center is not None
    assert scale is not None
    scale = scale if train else _reciprocal_deviation(scale, eps)
    g, axes = widened(grad), _other_axes(x)
    normal = _normal(widened(x), center, scale)
    dw, db = total(_times(g, normal), axes), total(g, axes)
    dx = g
    if train:
        n = count(x.shape, axes)
        less = lambda a, b, v, w: sub(sub(a, b / like(n, a)), v * (w / like(n, a)))  # noqa: E731
        dx = _each(less, g, db, normal, dw)
    dx = _affine(_times(dx, scale), _channels(weight, x.ndim), None)
    return _results((dx, dw, db), out)


def _inner_axes(x: Array, normalized: Sequence[int]) -> tuple[int, ...]:
    return tuple(range(x.ndim - len(normalized), x.ndim))


@lowering("native_layer_norm", **_NORM)
def layer_norm(
    x: Array, normalized: Any, weight: Array | None, bias: Array | None, eps: float, *, out: Out
) -> tuple[Array | None, ...]:
    """Result, mean and reciprocal deviation over the trailing dimensions, which the statistics keep as 1."""
    wide = widened(x)
    mean, variance = moments(wide, _inner_axes(x, normalized))
    rstd = _reciprocal_deviation(variance, eps)
    y = _affine(_normal(wide, mean, rstd), weight and widened(weight), bias and widened(bias))
    return _results((y, mean, rstd), out)


def _normalized_gradient(grad: Array, normal: Array, rstd: Array, axes: tuple[int, ...]) -> Array:
    """rstd * (grad - mean(grad) - normal * mean(grad * normal)), means over the normalized axes."""
    center, projection = mean_of(grad, axes), mean_of(_times(grad, normal), axes)
    at: Any = lambda g, c, n, p, r: sub(sub(g, c), n * p) * r  # noqa: E731
    return _each(at, grad, center, normal, projection, rstd)


@lowering("native_layer_norm_backward", **_LOOSE)
def layer_norm_backward(
    grad: Array, x: Array, normalized: Any, mean: Array, rstd: Array, weight: Array | None, bias: Array | None,
    mask: Mask, *, out: Out,
) -> tuple[Array | None, ...]:  # fmt: skip
    """Gradients for input, weight and bias."""
    inner, outer = _inner_axes(x, normalized), tuple(range(x.ndim - len(normalized)))
    g, deviation = widened(grad), widened(rstd)
    normal = _normal(widened(x), widened(mean), deviation)
    scaled = _affine(g, weight and widened(weight), None)
    dx = _normalized_gradient(scaled, normal, deviation, inner) if mask[0] else None
    dw = total(_times(g, normal), outer) if mask[1] else None
    return _results((dx, dw, total(g, outer) if mask[2] else None), out)


@lowering("native_group_norm", **_GROUPS)
def group_norm(
    x: Array, weight: Array | None, bias: Array | None, n: int, c: int, inner: int, groups: int, eps: float,
    *, out: Out,
) -> tuple[Array | None, ...]:  # fmt: skip
    """Result, mean and reciprocal deviation of each group of channels."""
    grouped = widened(x).reshaped((n, groups, c // groups * inner))
    mean, variance = moments(grouped, (2,))
    rstd = _reciprocal_deviation(variance, eps)
    normal = _split(_normal(grouped, mean, rstd), x, groups)
    y = _affine(normal, _channels(weight, x.ndim), _channels(bias, x.ndim))
    return _results((y, mean, rstd), out)


def _split(grouped: Array, x: Array, groups: int) -> Array:
    """Groups of channels as the channels of x."""
    width = x.shape[1] // groups
    inner = x.size // (x.shape[0] * x.shape[1]) if x.size else 0

    def at(*i: Expr) -> Expr:
        place = tir.const(0, "int32")
        for index, size in zip(i[2:], x.shape[2:], strict=True):
            place = place * size + index
        return grouped.at(i[0], tir.indexdiv(i[1], width), remainder(i[1], width, x.shape[1]) * inner + place)

    return Array(x.shape, grouped.dtype, at, None, grouped.cost)


@lowering("native_group_norm_backward", **_GROUPS)
def group_norm_backward(
    grad: Array, x: Array, mean: Array, rstd: Array, weight: Array | None, n: int, c: int, inner: int, groups: int,
    mask: Mask, *, out: Out,
) -> tuple[Array | None, ...]:  # fmt: skip
    """Gradients for input, weight and bias."""
    shape = (n, groups, c // groups * inner)
    g, statistic = widened(grad), (n, groups, 1)
    center, deviation = widened(mean).reshaped(statistic), widened(rstd).reshaped(statistic)
    normal = _normal(widened(x).reshaped(shape), center, deviation)
    scaled = staged(_affine(g, _channels(weight, x.ndim), None)).reshaped(shape)
    dx = _split(_normalized_gradient(scaled, normal, deviation, (2,)), x, groups) if mask[0] else None
    axes = _other_axes(x)
    dw = total(_times(g, _split(normal, x, groups)), axes) if mask[1] else None
    return _results((dx, dw, total(g, axes) if mask[2] else None), out)
