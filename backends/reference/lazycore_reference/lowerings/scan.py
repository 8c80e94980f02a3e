"""Running extremes and sums, and what else counts along the way."""

from __future__ import annotations

from typing import Any

import numpy as np

from lazycore_reference.axes import axis, line
from lazycore_reference.registry import Array, lowering


def _running(x: Array, dim: int, accumulate: Any) -> tuple[Array, Array]:
    """Running extremes and the last place where each stands; NaN, once met, stays."""
    along, where = line(x), axis(dim, x.ndim)
    values = accumulate(along, axis=where)
    shape = [1] * along.ndim
    shape[where] = along.shape[where]
    places = np.arange(along.shape[where]).reshape(shape)
    here = (along == values) | ((along != along) & (values != values))
    indices = np.maximum.accumulate(np.where(here, places, 0), axis=where)
    return values.reshape(x.shape), indices.reshape(x.shape)


@lowering("aten.cummax.default")
def cummax(x: Array, dim: int) -> tuple[Array, Array]:
    """Running maxima and their places."""
    return _running(x, dim, np.maximum.accumulate)


@lowering("aten.cummin.default")
def cummin(x: Array, dim: int) -> tuple[Array, Array]:
    """Running minima and their places."""
    return _running(x, dim, np.minimum.accumulate)


@lowering("aten.logcumsumexp.default")
def logcumsumexp(x: Array, dim: int) -> Array:
    """The logarithms of the running sums of exponentials, accumulated in double precision."""
    sums = np.logaddexp.accumulate(line(x).astype(np.float64), axis=axis(dim, x.ndim))
    return np.asarray(sums).reshape(x.shape)


@lowering("aten.nonzero_static.default")
def nonzero_static(x: Array, *, size: int, fill_value: int = -1) -> Array:
    """The positions of the first ``size`` elements that are not 0, one a row, filled up with ``fill_value``."""
    found = np.argwhere(x)[:size]
    result = np.full((size, x.ndim), fill_value, np.int64)
    result[: len(found)] = found
    return result
