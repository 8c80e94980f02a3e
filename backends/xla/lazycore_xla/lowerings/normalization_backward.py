"""Gradients of the normalizations, from the saved mean and 1 / deviation as in ATen."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import jax.numpy as jnp
from jax import lax

from lazycore_xla.lowerings.normalization import channel_axes, per_channel
from lazycore_xla.lowerings.operands import Array, Out
from lazycore_xla.registry import CHANNELS_LAST, FLOATING, ChannelsLast, lowering

__all__: list[str] = []

Mask = Sequence[bool]


def _wanted(mask: Mask, out: Out, *gradients: Callable[[], Array]) -> tuple[Array, ...]:
    """The gradients that were asked for; the others as empty as their specs say."""
    rows = zip(gradients, mask, out, strict=True)
    return tuple(g() if asked else jnp.zeros(s.static_shape, s.dtype.numpy) for g, asked, s in rows)


def _input_gradient(scaled: Array, normal: Array, rstd: Array, axes: Sequence[int]) -> Array:
    """rstd * (g - mean(g) - normal * mean(g * normal)), g already multiplied by the weight."""
    mean = jnp.mean(scaled, axis=tuple(axes), keepdims=True)
    slope = jnp.mean(scaled * normal, axis=tuple(axes), keepdims=True)
    return rstd * (scaled - mean - normal * slope)


def _given(statistic: Array | None) -> Array:
    if statistic is None:
        raise ValueError("batch norm's gradient needs the saved statistics in training, the running ones otherwise")
    return statistic


def _invstd(variance: Array | None, eps: float) -> Array:
    return lax.rsqrt(_given(variance) + eps)


@lowering("aten.native_batch_norm_backward.default", widen=True, needs_out=True, dtypes=FLOATING)
def _batch_norm(
    gradient: Array,
    x: Array,
    weight: Array | None,
    running_mean: Array | None,
    running_var: Array | None,
    save_mean: Array | None,
    save_invstd: Array | None,
    train: bool,
    eps: float,
    output_mask: Mask,
    *,
    out: Out,
    last: bool = False,
) -> tuple[Array, ...]:
    """In evaluation the running statistics are constants, and nothing flows through them.

    The input's gradient needs the same two sums as the weight's and the bias's; written with sums of its own, of
    products with the weight, it costs two more passes over the images.
    """
    axes, rank = channel_axes(x.ndim, last), x.ndim
    mean, invstd = (save_mean, save_invstd) if train else (running_mean, _invstd(running_var, eps))
    spread = per_channel(_given(invstd), rank, last)
    normal = (x - per_channel(_given(mean), rank, last)) * spread
    scale = spread if weight is None else spread * per_channel(weight, rank, last)
    slope, total = jnp.sum(gradient * normal, axis=axes), jnp.sum(gradient, axis=axes)

    def through_statistics() -> Array:
        count = jnp.asarray(x.size // total.size, x.dtype)
        return gradient - per_channel(total / count, rank, last) - normal * per_channel(slope / count, rank, last)

    results = (lambda: scale * (through_statistics() if train else gradient)), (lambda: slope), (lambda: total)
    return _wanted(output_mask, out, *results)


CHANNELS_LAST["aten.native_batch_norm_backward.default"] = ChannelsLast(partial(_batch_norm, last=True), (0, 1))


@lowering("aten.native_layer_norm_backward.default", widen=True, needs_out=True, dtypes=FLOATING)
def _layer_norm(
    gradient: Array,
    x: Array,
    normalized_shape: Sequence[int],
    mean: Array,
    rstd: Array,
    weight: Array | None,
    bias: Array | None,  # noqa: ARG001
    output_mask: Mask,
    *,
    out: Out,
) -> tuple[Array, ...]:
    first = x.ndim - len(normalized_shape)
    outer, inner = tuple(range(first)), tuple(range(first, x.ndim))
    kept = (*x.shape[:first], *[1] * len(inner))
    spread = rstd.reshape(kept)
    normal = (x - mean.reshape(kept)) * spread
    scaled = gradient if weight is None else gradient * weight
    return _wanted(
        output_mask,
        out,
        lambda: _input_gradient(scaled, normal, spread, inner),
        lambda: jnp.sum(gradient * normal, axis=outer),
        lambda: jnp.sum(gradient, axis=outer),
    )


@lowering("aten.native_group_norm_backward.default", widen=True, needs_out=True, dtypes=FLOATING)
def _group_norm(
    gradient: Array,
    x: Array,
    mean: Array,
    rstd: Array,
    weight: Array | None,
    n: int,
    c: int,
    hxw: int,
    group: int,
    output_mask: Mask,
    *,
    out: Out,
) -> tuple[Array, ...]:
    grouped = (n, group, c // group, hxw)
    spread = rstd.reshape(n, group, 1, 1)
    normal = (x.reshape(grouped) - mean.reshape(n, group, 1, 1)) * spread
    incoming = gradient.reshape(grouped)
    scaled = incoming if weight is None else incoming * weight.reshape(1, group, c // group, 1)
    return _wanted(
        output_mask,
        out,
        lambda: _input_gradient(scaled, normal, spread, (2, 3)).reshape(x.shape),
        lambda: jnp.sum(incoming * normal, axis=(0, 3)).reshape(c),
        lambda: jnp.sum(incoming, axis=(0, 3)).reshape(c),
    )
