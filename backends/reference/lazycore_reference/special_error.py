"""Relatives of the error function, in double precision."""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np

from lazycore_reference.registry import Array
from lazycore_reference.special import erf, erfc

__all__ = ["erfcx", "erfinv", "log_ndtr", "ndtri"]

_FAR = 25.0
_normal = NormalDist()


def erfcx(x: Array) -> Array:
    """exp(x^2) erfc(x): a product, or the asymptotic series where its factors leave the range of doubles."""
    x = x.astype(np.float64)
    near = np.minimum(x, _FAR)
    inverse = 1 / (2 * np.square(np.maximum(x, _FAR)))
    series, term = np.ones_like(x), np.ones_like(x)
    for k in range(1, 8):
        term = term * -(2 * k - 1) * inverse
        series = series + term
    far = series / (np.maximum(x, _FAR) * math.sqrt(math.pi))
    return np.asarray(np.where(x > _FAR, far, np.exp(near * near) * erfc(near)))


def log_ndtr(x: Array) -> Array:
    """The logarithm of the normal distribution function, also where that is too small for a double."""
    x = x.astype(np.float64)
    scaled = x / math.sqrt(2)
    low = np.log(erfcx(np.maximum(-scaled, 0)) / 2) - scaled * scaled
    return np.asarray(np.where(x < -1, low, np.log1p(-erfc(np.maximum(scaled, -1)) / 2)))


def _ndtri(p: float) -> float:
    if not 0 <= p <= 1:
        return math.nan
    return _normal.inv_cdf(p) if 0 < p < 1 else math.copysign(math.inf, p - 0.5)


_ndtri_each = np.frompyfunc(_ndtri, 1, 1)


def ndtri(p: Array) -> Array:
    """The inverse of the normal distribution function; infinite at 0 and 1, NaN outside."""
    return np.asarray(_ndtri_each(p.astype(np.float64)), dtype=np.float64)


def erfinv(y: Array) -> Array:
    """The inverse of erf: a first guess by ``ndtri``, sharpened by two of Newton's steps."""
    y = y.astype(np.float64)
    x = ndtri((y + 1) / 2) / math.sqrt(2)
    for _ in range(2):
        step = (erf(x) - y) * math.sqrt(math.pi) / 2 * np.exp(x * x)
        x = np.where(np.isfinite(step), x - step, x)
    return np.asarray(np.where(np.abs(y) == 1, np.copysign(np.inf, y), np.where(y == 0, y, x)))
