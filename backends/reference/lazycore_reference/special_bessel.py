"""Bessel functions, in double precision: trapezoidal sums of their integrals, which converge exponentially, and their
asymptotic series where those would need too many points."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from lazycore_reference.registry import Array

__all__ = ["airy", "i_scaled", "j", "k_scaled", "y"]

_POINTS = 64
_I_FAR, _J_FAR, _K_FAR = 100.0, 25.0, 50.0
_TERMS = 12
_EULER = 0.5772156649015329
_PAIRS = 26
"""Terms of the Neumann series: the functions of higher order vanish below ``_J_FAR``."""


def _coefficients(order: float, count: int) -> list[float]:
    """a(k) of the asymptotic series: products of (4 n^2 - (2j - 1)^2) / (8 j)."""
    values = [1.0]
    for k in range(1, count):
        values.append(values[-1] * (4 * order * order - (2 * k - 1) ** 2) / (8 * k))
    return values


def _circle(integrand: Callable[[float], Array]) -> Array:
    """The mean of an even periodic function over a half circle."""
    total = (integrand(0.0) + integrand(np.pi)) / 2
    for point in range(1, _POINTS):
        total = total + integrand(np.pi * point / _POINTS)
    return total / _POINTS


def i_scaled(order: int, x: Array) -> Array:
    """exp(-|x|) times the modified function of the first kind of a whole order."""
    x = x.astype(np.float64)
    size = np.abs(x)
    near = np.minimum(size, _I_FAR)
    sums = _circle(lambda t: np.exp(near * (np.cos(t) - 1)) * np.cos(order * t))
    inverse = 1 / np.maximum(size, _I_FAR)
    series = sum(a * (-inverse) ** k for k, a in enumerate(_coefficients(order, _TERMS)))
    result = np.where(size < _I_FAR, sums, series * np.sqrt(inverse / (2 * np.pi)))
    result = np.where(np.isnan(x), x, result)
    return np.asarray(np.where(x < 0, -result, result) if order % 2 else result)


def k_scaled(order: float, x: Array) -> Array:
    """exp(x) times the modified function of the second kind; infinite at 0, NaN below."""
    x = x.astype(np.float64)
    near = np.clip(x, 1e-16, _K_FAR)
    step, total = 1 / 16, np.full_like(x, 0.5)
    for point in range(1, 45 * 16):
        t = point * step
        total = total + np.exp(-near * (np.cosh(t) - 1)) * np.cosh(order * t)
    inverse = 1 / np.maximum(x, _K_FAR)
    series = sum(a * inverse**k for k, a in enumerate(_coefficients(order, _TERMS)))
    result = np.where(x < _K_FAR, total * step, series * np.sqrt(np.pi * inverse / 2))
    return np.asarray(np.where(x > 0, result, np.where(x == 0, np.inf, np.nan)))


def _hankel(order: int, x: Array) -> tuple[Array, Array]:
    """The functions of the first and second kind far from 0."""
    inverse = 1 / np.maximum(x, _J_FAR)
    a = _coefficients(order, 2 * _TERMS)
    even = sum((-1) ** k * a[2 * k] * inverse ** (2 * k) for k in range(_TERMS))
    odd = sum((-1) ** k * a[2 * k + 1] * inverse ** (2 * k + 1) for k in range(_TERMS))
    phase = x - (order / 2 + 0.25) * np.pi
    root = np.sqrt(2 * inverse / np.pi)
    cos, sin = np.cos(phase), np.sin(phase)
    return root * (even * cos - odd * sin), root * (even * sin + odd * cos)


def j(order: int, x: Array) -> Array:
    """The function of the first kind of order 0 or 1."""
    x = x.astype(np.float64)
    size = np.abs(x)
    near = np.minimum(size, _J_FAR)
    sums = _circle(lambda t: np.cos(order * t - near * np.sin(t)))
    result = np.where(size < _J_FAR, sums, _hankel(order, size)[0])
    result = np.where(np.isnan(x), x, result)
    return np.asarray(np.where(x < 0, -result, result) if order % 2 else result)


def _neumann(order: int, x: Array, weights: list[float]) -> Array:
    """The sum of weights[k - 1] times the functions of the first kind of order 2k + ``order``."""

    def integrand(t: float) -> Array:
        angles = [(2 * k + order) * t for k in range(1, len(weights) + 1)]
        cos = sum(w * np.cos(a) for w, a in zip(weights, angles, strict=True))
        sin = sum(w * np.sin(a) for w, a in zip(weights, angles, strict=True))
        return np.asarray(cos * np.cos(x * np.sin(t)) + sin * np.sin(x * np.sin(t)))

    return _circle(integrand)


def y(order: int, x: Array) -> Array:
    """The function of the second kind of order 0 or 1: minus infinity at 0, NaN below."""
    x = x.astype(np.float64)
    near = np.clip(x, 1e-300, _J_FAR)
    signs = [-((-1.0) ** k) for k in range(1, _PAIRS)]
    log = np.log(near / 2) + _EULER
    if order == 0:
        weights = [sign / k for k, sign in enumerate(signs, 1)]
        result = 2 / np.pi * log * j(0, near) + 4 / np.pi * _neumann(0, near, weights)
    else:
        weights = [sign * (2 * k + 1) / (k * (k + 1)) for k, sign in enumerate(signs, 1)]
        result = -2 / (np.pi * near) * j(0, near) + 2 / np.pi * ((log - 1) * j(1, near) + _neumann(1, near, weights))
    result = np.where(x < _J_FAR, result, _hankel(order, np.abs(x))[1])
    return np.asarray(np.where(x > 0, result, np.where(x == 0, -np.inf, np.nan)))


_AI, _AI_SLOPE = 0.35502805388781724, -0.2588194037928068
_AIRY_NEAR, _AIRY_FAR = 2.0, 6.0


def airy(x: Array) -> Array:
    """The Airy function Ai: its power series around 0, a Bessel function of order 1/3 to the right, its asymptotic
    series to the left."""
    x = x.astype(np.float64)
    near = np.clip(x, -_AIRY_FAR, _AIRY_NEAR)
    first, second = np.full_like(near, _AI), _AI_SLOPE * near
    total = first + second
    for k in range(1, 45):
        first, second = (
            first * near**3 / ((3 * k - 1) * (3 * k)),
            second * near**3 / ((3 * k) * (3 * k + 1)),
        )
        total = total + first + second
    right = np.maximum(x, _AIRY_NEAR)
    z = 2 / 3 * right**1.5
    beyond = np.sqrt(right / 3) / np.pi * k_scaled(1 / 3, z) * np.exp(-z)
    left = np.maximum(-x, _AIRY_FAR)
    result = np.where(x > _AIRY_NEAR, beyond, np.where(x < -_AIRY_FAR, _airy_left(left), total))
    return np.asarray(np.where(np.isnan(x), x, result))


def _airy_left(size: Array) -> Array:
    z = 2 / 3 * size**1.5
    values = _coefficients(1 / 3, _TERMS)
    even = sum((-1) ** k * values[2 * k] / z ** (2 * k) for k in range(_TERMS // 2))
    odd = sum((-1) ** k * values[2 * k + 1] / z ** (2 * k + 1) for k in range(_TERMS // 2))
    phase = z - np.pi / 4
    return np.asarray((even * np.cos(phase) - odd * np.sin(phase)) / (np.sqrt(np.pi) * size**0.25))
