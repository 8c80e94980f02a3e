"""Batch, layer and group normalization."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import jax.numpy as jnp
from jax import lax

from lazycore_xla.lowerings.operands import Array, Out
from lazycore_xla.registry import CHANNELS_LAST, FLOATING, ChannelsLast, lowering

__all__ = ["channel_axes", "per_channel"]


def per_channel(v: Array, rank: int, last: bool = False) -> Array:
    """A vector over dimension 1, or the last one, of a tensor of this rank."""
    return v if last else v.reshape(-1, *[1] * (rank - 2))


def channel_axes(rank: int, last: bool = False) -> tuple[int, ...]:
    """All dimensions but that of the channels."""
    return tuple(range(rank - 1)) if last else (0, *range(2, rank))


def _moments(x: Array, axes: Sequence[int]) -> tuple[Array, Array]:
    """Mean and biased variance, dimensions kept; the distances are squared, so that a large mean costs no digits."""
    mean = jnp.mean(x, axis=tuple(axes), keepdims=True)
    distances = x - mean
    return mean, jnp.mean(distances * distances, axis=tuple(axes), keepdims=True)


def _affine(x: Array, weight: Array | None, bias: Array | None) -> Array:
    x = x if weight is None else x * weight
    return x if bias is None else x + bias


def _batch_norm(
    x: Array, weight: Array | None, bias: Array | None, mean: Array, invstd: Array, last: bool
) -> Array:  # fmt: skip
    rank = x.ndim
    shaped = (per_channel(v, rank, last) if v is not None else None for v in (weight, bias))
    return _affine((x - per_channel(mean, rank, last)) * per_channel(invstd, rank, last), *shaped)


def _batch_statistics(x: Array, eps: float, last: bool) -> tuple[Array, Array, Array]:
    """Mean, biased variance and 1 / sqrt(variance + eps) of each channel."""
    mean, variance = (m.reshape(-1) for m in _moments(x, channel_axes(x.ndim, last)))
    return mean, variance, lax.rsqrt(variance + eps)


@lowering("aten._native_batch_norm_legit_functional.default", widen=True, needs_out=True, dtypes=FLOATING)
def _batch_norm_functional(
    x: Array,
    weight: Array | None,
    bias: Array | None,
    running_mean: Array,
    running_var: Array,
    training: bool,
    momentum: float,
    eps: float,
    *,
    out: Out,
    last: bool = False,
) -> tuple[Array, ...]:
    """Result, saved mean and 1 / deviation, new running mean and variance (of which the latter is unbiased)."""
    if not training:
        results = _batch_norm_inference(x, weight, bias, running_mean, running_var, momentum, eps, out=out, last=last)
        return *results, running_mean, running_var
    mean, variance, invstd = _batch_statistics(x, eps, last)
    count = x.size // mean.size
    unbiased = variance * jnp.asarray(count, x.dtype) / jnp.asarray(count - 1, x.dtype)
    new_mean = momentum * mean + (1 - momentum) * running_mean
    new_var = momentum * unbiased + (1 - momentum) * running_var
    return _batch_norm(x, weight, bias, mean, invstd, last), mean, invstd, new_mean, new_var


@lowering("aten._native_batch_norm_legit.no_stats", widen=True, dtypes=FLOATING)
def _batch_norm_no_stats(
    x: Array,
    weight: Array | None,
    bias: Array | None,
    training: bool,  # noqa: ARG001
    momentum: float,  # noqa: ARG001
    eps: float,
    last: bool = False,
) -> tuple[Array, ...]:
    """Without running statistics the batch's own are always used."""
    mean, _, invstd = _batch_statistics(x, eps, last)
    return _batch_norm(x, weight, bias, mean, invstd, last), mean, invstd


@lowering("aten._native_batch_norm_legit_no_training.default", widen=True, needs_out=True, dtypes=FLOATING)
def _batch_norm_inference(
    x: Array,
    weight: Array | None,
    bias: Array | None,
    running_mean: Array,
    running_var: Array,
    momentum: float,  # noqa: ARG001
    eps: float,
    *,
    out: Out,
    last: bool = False,
) -> tuple[Array, ...]:
    """Nothing is saved: the second and third output are empty, or zeros where the IR gives them a size."""
    result = _batch_norm(x, weight, bias, running_mean, lax.rsqrt(running_var + eps), last)
    saved = (jnp.zeros(s.static_shape, s.dtype.numpy) for s in out[1:3])
    return result, *saved


for _op, _function in (
    ("aten._native_batch_norm_legit_functional.default", _batch_norm_functional),
    ("aten._native_batch_norm_legit.no_stats", _batch_norm_no_stats),
    ("aten._native_batch_norm_legit_no_training.default", _batch_norm_inference),
):
    CHANNELS_LAST[_op] = ChannelsLast(partial(_function, last=True), (0,))


@lowering("aten.native_layer_norm.default", widen=True, needs_out=True, dtypes=FLOATING)
def _layer_norm(
    x: Array, normalized_shape: Sequence[int], weight: Array | None, bias: Array | None, eps: float, *, out: Out
) -> tuple[Array, ...]:  # fmt: skip
    axes = range(x.ndim - len(normalized_shape), x.ndim)
    mean, variance = _moments(x, axes)
    rstd = lax.rsqrt(variance + eps)
    mean_shape, rstd_shape = (s.static_shape for s in out[1:])
    return _affine((x - mean) * rstd, weight, bias), mean.reshape(mean_shape), rstd.reshape(rstd_shape)


@lowering("aten.native_group_norm.default", widen=True, dtypes=FLOATING)
def _group_norm(
    x: Array, weight: Array | None, bias: Array | None, n: int, c: int, hxw: int, group: int, eps: float
) -> tuple[Array, Array, Array]:
    """x is (n, c, ...); mean and 1 / deviation are (n, group)."""
    grouped = x.reshape(n, group, (c // group) * hxw)
    mean, variance = _moments(grouped, (2,))
    rstd = lax.rsqrt(variance + eps)
    normal = ((grouped - mean) * rstd).reshape(x.shape)
    shape = (per_channel(v, x.ndim) if v is not None else None for v in (weight, bias))
    return _affine(normal, *shape), mean.reshape(n, group), rstd.reshape(n, group)
