"""Enlarging and shrinking of planes, by the nearest element or by linear interpolation."""

from __future__ import annotations

from collections.abc import Sequence

import jax.numpy as jnp
import numpy as np

from lazycore_xla.lowerings.operands import Array, transpose_of
from lazycore_xla.registry import FLOATING, lowering

__all__: list[str] = []

Sizes = Sequence[int]
Scales = tuple[float | None, float | None]
_Floats = np.ndarray[tuple[int, ...], np.dtype[np.float32]]


def _ratio(size: int, target: int, scale: float | None) -> float:
    return 1 / scale if scale is not None and scale > 0 else size / target


@lowering("aten.upsample_nearest2d.default", dtypes=FLOATING)
def _nearest(x: Array, size: Sizes, scale_h: float | None = None, scale_w: float | None = None) -> Array:
    rows, columns = (
        _nearest_places(n, o, s) for n, o, s in zip(x.shape[-2:], size, (scale_h, scale_w), strict=True)
    )  # fmt: skip
    return jnp.take(jnp.take(x, rows, axis=-2), columns, axis=-1)


def _nearest_places(size: int, target: int, scale: float | None) -> Array:
    places = np.floor(np.arange(target, dtype=np.float32) * np.float32(_ratio(size, target, scale)))
    return jnp.asarray(np.minimum(places.astype(np.int32), size - 1))


@lowering("aten.upsample_nearest2d_backward.default", widen=True, dtypes=FLOATING)
def _nearest_backward(
    gradient: Array, size: Sizes, input_size: Sizes, scale_h: float | None = None, scale_w: float | None = None
) -> Array:
    return transpose_of(lambda x: _nearest(x, size, scale_h, scale_w), input_size, gradient)


@lowering("aten.upsample_bilinear2d.default", widen=True, dtypes=FLOATING)
def _bilinear(
    x: Array, size: Sizes, align_corners: bool, scale_h: float | None = None, scale_w: float | None = None
) -> Array:
    for axis, target, scale in ((x.ndim - 2, size[0], scale_h), (x.ndim - 1, size[1], scale_w)):
        x = _linear_axis(x, axis, target, align_corners, scale)
    return x


def _linear_axis(x: Array, axis: int, target: int, align_corners: bool, scale: float | None) -> Array:
    size = x.shape[axis]
    if size == target:
        return x
    places = _linear_places(size, target, align_corners, scale)
    low = np.minimum(places.astype(np.int32), size - 1)
    weight = (places - low).astype(np.float32).reshape(-1, *[1] * (x.ndim - 1 - axis))
    high = np.minimum(low + 1, size - 1)
    upper = jnp.asarray(weight, x.dtype)
    return jnp.take(x, jnp.asarray(low), axis=axis) * (1 - upper) + jnp.take(x, jnp.asarray(high), axis=axis) * upper


def _linear_places(size: int, target: int, align_corners: bool, scale: float | None) -> _Floats:
    """Where each output lies between the inputs: corner to corner, or centre to centre."""
    positions = np.arange(target, dtype=np.float32)
    if align_corners:
        return positions * np.float32((size - 1) / (target - 1) if target > 1 else 0)
    centred = (positions + np.float32(0.5)) * np.float32(_ratio(size, target, scale)) - np.float32(0.5)
    return np.maximum(centred, np.float32(0))


@lowering("aten.upsample_bilinear2d_backward.default", widen=True, dtypes=FLOATING)
def _bilinear_backward(
    gradient: Array,
    size: Sizes,
    input_size: Sizes,
    align_corners: bool,
    scale_h: float | None = None,
    scale_w: float | None = None,
) -> Array:
    return transpose_of(lambda x: _bilinear(x, size, align_corners, scale_h, scale_w), input_size, gradient)
