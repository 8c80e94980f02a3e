"""Relatives of the gamma function, in double precision."""

from __future__ import annotations

import math

import numpy as np

from lazycore_reference.registry import Array
from lazycore_reference.special import lgamma

__all__ = ["digamma", "igamma", "zeta"]

# Bernoulli numbers B2, B4, …
_BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510, 43867 / 798, -174611 / 330)
_FAR = 10
_TINY = 1e-300


def digamma(x: Array) -> Array:
    """The logarithmic derivative of gamma: shifted up by its recurrence, then its asymptotic series; negative numbers
    by reflection. Poles give NaN, 0 an infinity of the opposite sign."""
    x = x.astype(np.float64)
    y, total = np.where(x < 0, 1 - x, x), np.zeros_like(x)
    for _ in range(_FAR):
        near = y < _FAR
        total = total - np.where(near, 1 / y, 0)
        y = np.where(near, y + 1, y)
    total = total + np.log(y) - 1 / (2 * y)
    for k, number in enumerate(_BERNOULLI, 1):
        total = total - number / (2 * k * y ** (2 * k))
    fraction = x - np.floor(x)
    total = np.where(x < 0, total - np.pi / np.tan(np.pi * fraction), total)
    total = np.where((x < 0) & (fraction == 0), np.nan, total)
    return np.asarray(np.where(x == 0, np.copysign(np.inf, -x), np.where(x == np.inf, np.inf, total)))


def zeta(s: Array, q: Array) -> Array:
    """Hurwitz's zeta function, the sum of (q + k) ** -s: its first terms, then Euler's and Maclaurin's formula.

    Infinite for s = 1 and at q = 0, -1, …; NaN for s < 1 and for other negative q unless s is whole.
    """
    s, q = np.broadcast_arrays(s.astype(np.float64), q.astype(np.float64))
    total, place = np.zeros_like(q), q.copy()
    while np.any(near := (place < _FAR) & (place > -1e4)):
        total = total + np.where(near, np.power(place, -s), 0)
        place = np.where(near, place + 1, place)
    total = total + np.power(place, 1 - s) / (s - 1) + np.power(place, -s) / 2
    factor, power = s, np.power(place, -s - 1)
    for k, number in enumerate(_BERNOULLI, 1):
        total = total + number / math.factorial(2 * k) * factor * power
        factor, power = factor * (s + 2 * k - 1) * (s + 2 * k), power / (place * place)
    whole = q == np.floor(q)
    total = np.where((q <= 0) & whole, np.inf, np.where((q < 0) & (s != np.floor(s)), np.nan, total))
    return np.asarray(np.where(s == 1, np.inf, np.where((s < 1) | np.isnan(s + q), np.nan, total)))


def igamma(a: Array, x: Array, upper: bool) -> Array:
    """The regularized incomplete gamma function, lower or upper: a series below the peak, a continued fraction above.

    NaN where an operand is negative or both are 0 or infinite.
    """
    a, x = np.broadcast_arrays(a.astype(np.float64), x.astype(np.float64))
    scale = np.exp(a * np.log(x) - x - lgamma(a))
    below = x < a + 1
    series, fraction = _series(a, x, below) * scale / a, _fraction(a, x, ~below) * scale
    low = np.where(below, series, 1 - fraction)
    low = np.where((x == 0) | np.isinf(a), 0, np.where((a == 0) | np.isinf(x), 1, low))
    undefined = (a < 0) | (x < 0) | np.isnan(a + x) | ((a == 0) & (x == 0)) | (np.isinf(a) & np.isinf(x))
    high = np.where(below | (a == 0) | np.isinf(a) | np.isinf(x), 1 - low, fraction)
    return np.asarray(np.where(undefined, np.nan, high if upper else low))


def _series(a: Array, x: Array, active: Array) -> Array:
    term = total = np.ones_like(x)
    n = a
    while np.any(active):
        n = n + 1
        term = term * np.where(active, x / n, 0)
        total = total + term
        active = active & (term > total * 1e-17)
    return total


def _fraction(a: Array, x: Array, active: Array) -> Array:
    """By Lentz's method."""
    b = x + 1 - a
    c, d = np.full_like(x, 1 / _TINY), 1 / b
    total = d
    k = 0
    active = active & np.isfinite(x)
    while np.any(active) and k < 5000:
        k += 1
        numerator = -k * (k - a)
        b = b + 2
        d = 1 / np.where(np.abs(grown := numerator * d + b) < _TINY, _TINY, grown)
        c = np.where(np.abs(grown := b + numerator / c) < _TINY, _TINY, grown)
        total = np.where(active, total * d * c, total)
        active = active & (np.abs(d * c - 1) > 1e-16)
    return total
