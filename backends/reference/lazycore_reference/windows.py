"""Sliding windows over the trailing dimensions: the geometry that convolution and pooling share."""

# To mypy, arithmetic on arrays of any dtype is Any.
# mypy: disable-error-code="no-any-return"

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np

from lazycore_reference.axes import trailing
from lazycore_reference.registry import Array

__all__ = ["crop", "fold", "pad", "unfold"]


def pad(x: Array, before: Sequence[int], after: Sequence[int], fill: float | bool = 0) -> Array:
    """x with its trailing dimensions padded."""
    widths = [(0, 0)] * (x.ndim - len(before)) + list(zip(before, after, strict=True))
    return np.pad(x, widths, constant_values=fill) if any(map(any, widths)) else x


def crop(x: Array, before: Sequence[int], sizes: Sequence[int]) -> Array:
    """The part of the trailing dimensions that starts at ``before`` and has the given sizes."""
    return x[trailing(slice(b, b + n) for b, n in zip(before, sizes, strict=True))]


def unfold(
    x: Array, kernel: Sequence[int], stride: Sequence[int], dilation: Sequence[int], out: Sequence[int]
) -> Array:
    """All windows as a view: (..., *spatial) to (..., *kernel, *out)."""
    lead = x.ndim - len(kernel)
    inside = [s * d for s, d in zip(x.strides[lead:], dilation, strict=True)]
    between = [s * t for s, t in zip(x.strides[lead:], stride, strict=True)]
    shape = (*x.shape[:lead], *kernel, *out)
    return np.lib.stride_tricks.as_strided(x, shape, (*x.strides[:lead], *inside, *between), writeable=False)


def fold(windows: Array, sizes: Sequence[int], stride: Sequence[int], dilation: Sequence[int]) -> Array:
    """The transpose of ``unfold``: windows (..., *kernel, *out) added up where they overlap, to (..., *sizes)."""
    n = len(sizes)
    kernel, out = windows.shape[-2 * n : -n], windows.shape[-n:]
    total = np.zeros((*windows.shape[: -2 * n], *sizes), windows.dtype)
    everywhere = [slice(None)] * n
    for offset in product(*map(range, kernel)):
        starts = [o * d for o, d in zip(offset, dilation, strict=True)]
        region = (slice(a, a + (m - 1) * s + 1, s) for a, m, s in zip(starts, out, stride, strict=True))
        total[trailing(region)] += windows[trailing([*offset, *everywhere])]
    return total
