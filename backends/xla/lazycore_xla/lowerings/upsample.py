"""Enlarging and shrinking of lines, planes and volumes: by the nearest element, linearly or cubically.

Every form treats one dimension after the other; along each, an output element is a weighted sum of a few inputs
whose places and weights are known when compiling.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import jax.numpy as jnp
import numpy as np

from lazycore_xla.lowerings.operands import Array, transpose_of
from lazycore_xla.registry import FLOATING, REAL, lowering

__all__ = ["Axis", "precision", "resized"]

Sizes = Sequence[int]
Scale = float | None
Axis: TypeAlias = Callable[[Array, int, int, Scale], Array]
"""(x, dimension, target size, scale) -> x resized along the dimension."""

CUBIC = -0.75
"""The parameter a of the cubic convolution kernel (Keys, 1981) that ATen uses."""


def resized(x: Array, size: Sizes, scales: Sequence[Scale], along: Axis) -> Array:
    """x with its last dimensions resized, one after the other."""
    for axis, (target, scale) in enumerate(zip(size, scales, strict=True), start=x.ndim - len(size)):
        x = along(x, axis, target, scale)
    return x


def _ratio(size: int, target: int, scale: Scale) -> float:
    return 1 / scale if scale is not None and scale > 0 else size / target


def _exact(x: Array, axis: int, target: int, scale: Scale) -> Array:
    """The element under the output's centre."""
    return _taken(x, axis, (np.arange(target, dtype=np.float32) + np.float32(0.5)) * _step(x, axis, target, scale))


def _nearest(x: Array, axis: int, target: int, scale: Scale) -> Array:
    """The element under the output's start."""
    return _taken(x, axis, np.arange(target, dtype=np.float32) * _step(x, axis, target, scale))


def _doubling(x: Array, axis: int, target: int, scale: Scale) -> Array:
    """The same, but whatever the scale says, a doubled or unchanged size repeats each element as often."""
    times = {x.shape[axis]: 1, 2 * x.shape[axis]: 2}.get(target)
    return jnp.repeat(x, times, axis) if times else _nearest(x, axis, target, scale)


def _step(x: Array, axis: int, target: int, scale: Scale) -> Any:
    return np.float32(_ratio(x.shape[axis], target, scale))


def _taken(x: Array, axis: int, places: Any) -> Array:
    return jnp.take(x, jnp.asarray(np.minimum(places.astype(np.int32), x.shape[axis] - 1)), axis=axis)


def precision(x: Array) -> Any:
    """The NumPy dtype in which places between elements are reckoned: the elements' own, but no 16 bits."""
    return np.float64 if x.dtype == np.float64 else np.float32


def _places(size: int, target: int, align_corners: bool, scale: Scale, kind: Any) -> Any:
    """Where each output lies between the inputs: corner to corner, or centre to centre."""
    positions = np.arange(target, dtype=kind)
    if align_corners:
        return positions * kind((size - 1) / (target - 1) if target > 1 else 0)
    return (positions + kind(0.5)) * kind(_ratio(size, target, scale)) - kind(0.5)


def _linear(align_corners: bool) -> Axis:
    def along(x: Array, axis: int, target: int, scale: Scale) -> Array:
        size = x.shape[axis]
        if size == target:
            return x
        kind = precision(x)
        places = np.maximum(_places(size, target, align_corners, scale, kind), kind(0))
        low = np.minimum(places.astype(np.int32), size - 1)
        weight = (places - low).astype(kind)
        return _weighted(x, axis, [(low, 1 - weight), (np.minimum(low + 1, size - 1), weight)])

    return along


def _cubic(align_corners: bool) -> Axis:
    def along(x: Array, axis: int, target: int, scale: Scale) -> Array:
        size, kind = x.shape[axis], precision(x)
        places = _places(size, target, align_corners, scale, kind)
        low = np.floor(places).astype(np.int32)
        distance = (places - low).astype(kind)
        taps = [(np.clip(low + k, 0, size - 1), _cubic_weight(np.abs(distance - kind(k)))) for k in range(-1, 3)]
        return _weighted(x, axis, taps)

    return along


def _cubic_weight(t: Any) -> Any:
    near = ((CUBIC + 2) * t - (CUBIC + 3)) * t * t + 1
    far = ((CUBIC * t - 5 * CUBIC) * t + 8 * CUBIC) * t - 4 * CUBIC
    return np.where(t <= 1, near, far).astype(t.dtype)


def _weighted(x: Array, axis: int, taps: Sequence[tuple[Any, Any]]) -> Array:
    """The sum, over (places, weights), of x at the places times the weights."""
    shape = (-1, *[1] * (x.ndim - 1 - axis))
    terms = [jnp.take(x, jnp.asarray(p), axis=axis) * jnp.asarray(w.reshape(shape), x.dtype) for p, w in taps]
    return sum(terms[1:], terms[0])


def _forward(rank: int, form: Callable[..., Axis], extra: int) -> Any:
    def forward(x: Array, size: Sizes, *rest: Any) -> Array:
        return resized(x, size, rest[extra:] or (None,) * rank, form(*rest[:extra]))

    return forward


def _backward(rank: int, form: Callable[..., Axis], extra: int) -> Any:
    forward = _forward(rank, form, extra)

    def backward(gradient: Array, size: Sizes, input_size: Sizes, *rest: Any) -> Array:
        if form is _cubic and tuple(size) == tuple(input_size[2:]):
            return gradient  # as on the CPU, though its forward pass heeds the scales
        return transpose_of(lambda x: forward(x, size, *rest), input_size, gradient)

    return backward


_FORMS: dict[str, tuple[int, Callable[..., Axis], Callable[..., Axis], int]] = {
    **{f"_upsample_nearest_exact{r}d": (r, lambda: _exact, lambda: _exact, 0) for r in (1, 2, 3)},
    "upsample_nearest1d": (1, lambda: _nearest, lambda: _doubling, 0),
    "upsample_nearest2d": (2, lambda: _doubling, lambda: _doubling, 0),
    "upsample_nearest3d": (3, lambda: _nearest, lambda: _doubling, 0),
    "upsample_linear1d": (1, _linear, _linear, 1),
    "upsample_bilinear2d": (2, _linear, _linear, 1),
    "upsample_trilinear3d": (3, _linear, _linear, 1),
    "upsample_bicubic2d": (2, _cubic, _cubic, 1),
}
"""ATen's name -> rank, the form, the form that the gradient is of (which ATen's CPU kernels do not always agree on),
and how many arguments before the scales choose them."""

for _name, (_rank, _form, _form_back, _extra) in _FORMS.items():
    _dtypes = REAL if "nearest" in _name else FLOATING
    lowering(f"aten.{_name}.default", widen=True, dtypes=_dtypes)(_forward(_rank, _form, _extra))
    lowering(f"aten.{_name}_backward.default", widen=True, dtypes=FLOATING)(_backward(_rank, _form_back, _extra))
