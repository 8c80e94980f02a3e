"""Choosing and blending, element by element: where, clamp, masked fill, multiply-add."""

# To mypy, arithmetic on arrays of any dtype is Any.
# mypy: disable-error-code="no-any-return"

from __future__ import annotations

from typing import Any

import numpy as np

from lazycore_reference.lowerings.binary import number
from lazycore_reference.registry import Array, lowering


@lowering("aten.where.self", raw=True)
def where(condition: Array, x: Array, other: Array) -> Array:
    """x where the condition holds, else other."""
    return np.where(condition, x, other)


@lowering("aten.clamp.default", "aten.clamp.Tensor", "aten.hardtanh.default")
def clamp(x: Array, low: Any = None, high: Any = None) -> Array:
    """min(max(x, low), high): NaN in any operand wins, the upper bound wins over the lower."""
    if low is not None:
        x = np.maximum(x, number(low, x))
    return x if high is None else np.minimum(x, number(high, x))


@lowering("aten.clamp_min.default", "aten.clamp_min.Tensor")
def clamp_min(x: Array, low: Any) -> Array:
    """max(x, low)."""
    return np.maximum(x, number(low, x))


@lowering("aten.clamp_max.default", "aten.clamp_max.Tensor")
def clamp_max(x: Array, high: Any) -> Array:
    """min(x, high)."""
    return np.minimum(x, number(high, x))


@lowering("aten.addcmul.default")
def addcmul(x: Array, first: Array, second: Array, *, value: Any = 1) -> Array:
    """x + value * first * second."""
    return x + number(value, x) * first * second


@lowering("aten.addcdiv.default")
def addcdiv(x: Array, first: Array, second: Array, *, value: Any = 1) -> Array:
    """x + value * first / second."""
    return x + number(value, x) * first / second


@lowering("aten.lerp.Scalar", "aten.lerp.Tensor")
def lerp(start: Array, end: Array, weight: Any) -> Array:
    """start + weight * (end - start), reckoned from the nearer end."""
    weight, span = number(weight, start), end - start
    return np.where(np.abs(weight) < 0.5, start + weight * span, end - span * (1 - weight))


@lowering("aten.masked_fill.Scalar", "aten.masked_fill.Tensor")
def masked_fill(x: Array, mask: Array, value: Any) -> Array:
    """value where the mask holds, else x."""
    return np.where(mask, number(value, x), x)


@lowering("aten.threshold.default")
def threshold(x: Array, limit: Any, value: Any) -> Array:
    """value where x <= limit, else x (NaN kept)."""
    return np.where(x <= number(limit, x), number(value, x), x)
