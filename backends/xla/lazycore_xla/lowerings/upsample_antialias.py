"""Resizing with a filter as wide as the shrinking demands (``antialias=True`` of ``interpolate``)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np

from lazycore_xla.lowerings.operands import Array, transpose_of
from lazycore_xla.lowerings.upsample import Axis, precision, resized
from lazycore_xla.registry import FLOATING, lowering

__all__: list[str] = []

Sizes = Sequence[int]
Scale = float | None

CUBIC = -0.5
"""The cubic kernel's parameter when it filters; the unfiltered resize has another."""


def _triangle(t: Any) -> Any:
    return np.maximum(1 - np.abs(t), 0)


def _cubic(t: Any) -> Any:
    t = np.abs(t)
    near = ((CUBIC + 2) * t - (CUBIC + 3)) * t * t + 1
    far = ((CUBIC * t - 5 * CUBIC) * t + 8 * CUBIC) * t - 4 * CUBIC
    return np.where(t < 1, near, np.where(t < 2, far, 0))


def _axis(kernel: Callable[[Any], Any], reach: int, align_corners: bool) -> Axis:
    def along(x: Array, axis: int, target: int, scale: Scale) -> Array:
        matrix = _weights(x.shape[axis], target, align_corners, scale, kernel, reach, precision(x))
        moved = jnp.moveaxis(x, axis, -1)
        return jnp.moveaxis(jnp.matmul(moved, jnp.asarray(matrix.T, x.dtype)), -1, axis)

    return along


def _weights(
    size: int,
    target: int,
    align_corners: bool,
    scale: Scale,
    kernel: Callable[[Any], Any],
    reach: int,
    kind: Any,
) -> Any:
    """The (target, size) matrix of the resize: rows of kernel values around the output's centre that add up to 1."""
    if align_corners:
        ratio = (size - 1) / (target - 1) if target > 1 else 0.0
    else:
        ratio = 1 / scale if scale is not None and scale > 0 else size / target
    support = reach / 2 * max(ratio, 1.0)
    centre = kind(ratio) * (np.arange(target, dtype=kind) + kind(0.5))
    first = np.maximum((centre - support + 0.5).astype(np.int64), 0)
    stop = np.minimum((centre + support + 0.5).astype(np.int64), size)
    places = np.arange(size)
    values = kernel((places[None, :] - centre[:, None] + 0.5) / max(ratio, 1.0))
    values = np.where((places >= first[:, None]) & (places < stop[:, None]), values, 0)
    total = values.sum(axis=1, keepdims=True)
    return values / np.where(total == 0, 1, total)


def _forward(kernel: Callable[[Any], Any], reach: int) -> Any:
    def forward(
        x: Array, size: Sizes, align_corners: bool, scale_h: Scale = None, scale_w: Scale = None
    ) -> Array:  # fmt: skip
        return resized(x, size, (scale_h, scale_w), _axis(kernel, reach, align_corners))

    return forward


def _backward(kernel: Callable[[Any], Any], reach: int) -> Any:
    forward = _forward(kernel, reach)

    def backward(gradient: Array, size: Sizes, input_size: Sizes, *rest: Any) -> Array:
        return transpose_of(lambda x: forward(x, size, *rest), input_size, gradient)

    return backward


_FORMS: dict[str, tuple[Callable[[Any], Any], int]] = {
    "_upsample_bilinear2d_aa": (_triangle, 2),
    "_upsample_bicubic2d_aa": (_cubic, 4),
}
"""ATen's name -> kernel and the width of its support."""

for _name, _form in _FORMS.items():
    lowering(f"aten.{_name}.default", widen=True, dtypes=FLOATING)(_forward(*_form))
    lowering(f"aten.{_name}_backward.default", widen=True, dtypes=FLOATING)(_backward(*_form))
