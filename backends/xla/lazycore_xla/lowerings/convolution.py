"""Convolutions in one, two and three dimensions, transposed ones, and their gradients."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import jax.numpy as jnp
from jax import lax

from lazycore_xla.lowerings.operands import Array, Out, transpose_of
from lazycore_xla.registry import CHANNELS_LAST, FLOATING, REAL, ChannelsLast, lowering

__all__ = ["Window", "window_of"]


@dataclass(frozen=True)
class Window:
    """A convolution's attributes, one number per spatial dimension. ``last``: of the images, the channels."""

    stride: Sequence[int]
    padding: Sequence[int]
    dilation: Sequence[int]
    transposed: bool
    output_padding: Sequence[int]
    groups: int
    last: bool = False

    @property
    def dimensions(self) -> tuple[str, str, str] | None:
        """In jax's notation."""
        return ("NHWC", "OIHW", "NHWC") if self.last else None


def window_of(
    rank: int,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    transposed: bool,
    output_padding: Sequence[int],
    groups: int,
    last: bool,
) -> Window:
    """ATen lets one number stand for all dimensions."""

    def per_dimension(sizes: Sequence[int]) -> Sequence[int]:
        return sizes if len(sizes) == rank else tuple(sizes) * rank

    sizes = per_dimension(stride), per_dimension(padding), per_dimension(dilation)
    return Window(*sizes, transposed, per_dimension(output_padding), groups, last)


def _convolve(x: Array, weight: Array, window: Window) -> Array:
    return _transposed(x, weight, window) if window.transposed else _forward(x, weight, window)


def _forward(x: Array, weight: Array, window: Window) -> Array:
    return lax.conv_general_dilated(
        x,
        weight,
        window_strides=window.stride,
        padding=[(p, p) for p in window.padding],
        rhs_dilation=window.dilation,
        dimension_numbers=window.dimensions,
        feature_group_count=window.groups,
        precision=lax.Precision.HIGHEST,
    )


def _transposed(x: Array, weight: Array, window: Window) -> Array:
    """The input spread out by the stride and convolved with the mirrored weight (in, out / groups, *kernel)."""
    reach = [d * (k - 1) for d, k in zip(window.dilation, weight.shape[2:], strict=True)]
    edges = zip(reach, window.padding, window.output_padding, strict=True)
    return lax.conv_general_dilated(
        x,
        _mirrored(weight, window.groups),
        window_strides=[1] * len(reach),
        padding=[(r - p, r - p + extra) for r, p, extra in edges],
        lhs_dilation=window.stride,
        rhs_dilation=window.dilation,
        dimension_numbers=window.dimensions,
        feature_group_count=window.groups,
        precision=lax.Precision.HIGHEST,
    )


def _mirrored(weight: Array, groups: int) -> Array:
    """(in, out / groups, *kernel) -> (out, in / groups, *kernel), the kernel reversed."""
    inputs, outputs, *kernel = weight.shape
    split = weight.reshape(groups, inputs // groups, outputs, *kernel)
    swapped = jnp.swapaxes(split, 1, 2).reshape(groups * outputs, inputs // groups, *kernel)
    return lax.rev(swapped, tuple(range(2, weight.ndim)))


@lowering("aten.convolution.default", widen=True, dtypes=REAL)
def _convolution(
    x: Array,
    weight: Array,
    bias: Array | None,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    transposed: bool,
    output_padding: Sequence[int],
    groups: int,
    last: bool = False,
) -> Array:
    rank = x.ndim - 2
    window = window_of(rank, stride, padding, dilation, transposed, output_padding, groups, last)
    result = _convolve(x, weight, window)
    return result if bias is None else result + (bias if last else bias.reshape(-1, *[1] * rank))


@lowering("aten.convolution_backward.default", widen=True, needs_out=True, dtypes=FLOATING)
def _convolution_backward(
    gradient: Array,
    x: Array,
    weight: Array,
    bias_sizes: Sequence[int] | None,  # noqa: ARG001
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    transposed: bool,
    output_padding: Sequence[int],
    groups: int,
    output_mask: Sequence[bool],
    *,
    out: Out,
    last: bool = False,
) -> tuple[Array, ...]:
    """Gradients of input, weight and bias; one that was not asked for is as empty as its spec."""
    rank = x.ndim - 2
    window = window_of(rank, stride, padding, dilation, transposed, output_padding, groups, last)
    spatial = range(1, x.ndim - 1) if last else range(2, x.ndim)
    gradients = (
        lambda: transpose_of(lambda v: _convolve(v, weight, window), x.shape, gradient),
        lambda: transpose_of(lambda v: _convolve(x, v, window), weight.shape, gradient),
        lambda: jnp.sum(gradient, axis=(0, *spatial)),
    )
    wanted = zip(gradients, output_mask, out, strict=True)
    return tuple(f() if asked else jnp.zeros(s.static_shape, s.dtype.numpy) for f, asked, s in wanted)


for _op, _function, _images in (
    ("aten.convolution.default", _convolution, (0,)),
    ("aten.convolution_backward.default", _convolution_backward, (0, 1)),
):
    # XLA's own convolution is of this form: of another it transposes the operands and the result, each time.
    CHANNELS_LAST[_op] = ChannelsLast(partial(_function, last=True), _images, leads=True)
