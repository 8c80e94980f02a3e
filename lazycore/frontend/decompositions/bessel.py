"""Bessel functions and Airy's, in double precision: integrals over a circle or a line by the trapezoidal rule, which
converges exponentially for them, and asymptotic series far from zero."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch

__all__ = ["BESSEL"]

Tensor = torch.Tensor
Function = Callable[[Tensor], Tensor]

_CIRCLE = 32
"""Intervals of a half circle: enough for arguments up to ``_I_FAR`` and ``_J_FAR``, of low orders."""
_I_FAR, _J_FAR = 40.0, 25.0
_K_NEAR, _K_FAR = 2.0, 50.0
_K_STEP, _K_POINTS = 1 / 8, 56
_TERMS = 16
_EULER = 0.5772156649015329
_PAIRS = 25
_AI, _AI_SLOPE = 0.35502805388781724, -0.2588194037928068
_AIRY_NEAR, _AIRY_FAR, _AIRY_TERMS = 2.0, 6.0, 30


def _asymptotic(order: float, count: int) -> list[float]:
    """The products of (4 n^2 - (2j - 1)^2) / (8 j) over j = 1…k, for each k below ``count``."""
    values = [1.0]
    for k in range(1, count):
        values.append(values[-1] * (4 * order * order - (2 * k - 1) ** 2) / (8 * k))
    return values


def _polynomial(x: Tensor, coefficients: list[float]) -> Tensor:
    """The sum of coefficients[k] x^k."""
    total = torch.full_like(x, coefficients[-1])
    for coefficient in reversed(coefficients[:-1]):
        total = total * x + coefficient
    return total


def _line(count: int, like: Tensor) -> Tensor:
    return torch.arange(count, dtype=torch.float64, device=like.device)


def _angles(like: Tensor, intervals: int = _CIRCLE) -> Tensor:
    return _line(intervals + 1, like) * (math.pi / intervals)


def _mean(values: Tensor) -> Tensor:
    """Over the half circle, whose ends count half."""
    intervals = values.shape[-1] - 1
    place = _line(intervals + 1, values)
    return (values * torch.where((place == 0) | (place == intervals), 0.5 / intervals, 1.0 / intervals)).sum(-1)


def _i_scaled(order: int, x: Tensor) -> Tensor:
    """exp(-|x|) times the modified function of the first kind of a whole order."""
    size, t = x.abs(), _angles(x)
    near = size.clamp(max=_I_FAR)
    sums = _mean(torch.exp(near[..., None] * (t.cos() - 1)) * (order * t).cos())
    inverse = 1 / size.clamp(min=_I_FAR)
    series = _polynomial(-inverse, _asymptotic(order, _TERMS)) * (inverse / (2 * math.pi)).sqrt()
    result = torch.where(size < _I_FAR, sums, series)
    return torch.where(x < 0, -result, result) if order % 2 else result


def _i(order: int, x: Tensor) -> Tensor:
    # As on the CPU, infinite arguments give NaN, the product of a vanishing and an infinite factor.
    return _i_scaled(order, x) * torch.exp(x.abs().clamp(max=800))


def _k_series(order: int, x: Tensor) -> Tensor:
    """The modified function of the second kind of order 0 or 1 near zero, by its power series."""
    square, log = x * x / 4, torch.log(x / 2) + _EULER
    harmonic = [sum(1 / j for j in range(1, k + 1)) for k in range(_TERMS)]
    if order == 0:
        weights = [1 / math.factorial(k) ** 2 for k in range(_TERMS)]
        rest = [h * w for h, w in zip(harmonic, weights, strict=True)]
        return _polynomial(square, rest) - log * _polynomial(square, weights)
    weights = [1 / (math.factorial(k) * math.factorial(k + 1)) for k in range(_TERMS)]
    rest = [(2 * h + 1 / (k + 1)) * w for k, (h, w) in enumerate(zip(harmonic, weights, strict=True))]
    return 1 / x + log * _polynomial(square, weights) * x / 2 - _polynomial(square, rest) * x / 4


def _k_far(order: float, x: Tensor) -> Tensor:
    """exp(x) times the modified function of the second kind, from ``_K_NEAR`` on."""
    t = _line(_K_POINTS, x) * _K_STEP
    line = torch.exp(-x.clamp(max=_K_FAR)[..., None] * (t.cosh() - 1)) * (order * t).cosh()
    sums = (line * torch.where(t == 0, _K_STEP / 2, _K_STEP)).sum(-1)
    inverse = 1 / x.clamp(min=_K_FAR)
    series = _polynomial(inverse, _asymptotic(order, _TERMS)) * (math.pi * inverse / 2).sqrt()
    return torch.where(x < _K_FAR, sums, series)


def _k(order: int, x: Tensor, scaled: bool) -> Tensor:
    """Infinite at 0, NaN below."""
    near, far = x.clamp(min=1e-300, max=_K_NEAR), x.clamp(min=_K_NEAR)
    close, beyond = _k_series(order, near), _k_far(order, far)
    close, beyond = (close * torch.exp(near), beyond) if scaled else (close, beyond * torch.exp(-far))
    result = torch.where(x < _K_NEAR, close, beyond)
    return torch.where(x > 0, result, torch.where(x == 0, math.inf, math.nan))


def _hankel(order: int, x: Tensor) -> tuple[Tensor, Tensor]:
    """The functions of the first and second kind from ``_J_FAR`` on."""
    inverse = 1 / x.clamp(min=_J_FAR)
    a = _asymptotic(order, 2 * _TERMS)
    minus = -inverse * inverse
    even, odd = _polynomial(minus, a[::2]), _polynomial(minus, a[1::2]) * inverse
    phase = x - (order / 2 + 0.25) * math.pi
    root, cos, sin = (2 * inverse / math.pi).sqrt(), phase.cos(), phase.sin()
    return root * (even * cos - odd * sin), root * (even * sin + odd * cos)


def _j(order: int, x: Tensor) -> Tensor:
    """The function of the first kind of order 0 or 1."""
    size, t = x.abs(), _angles(x)
    sums = _mean(torch.cos(order * t - size.clamp(max=_J_FAR)[..., None] * t.sin()))
    result = torch.where(size < _J_FAR, sums, _hankel(order, size)[0])
    return torch.where(x < 0, -result, result) if order % 2 else result


def _neumann(order: int, x: Tensor) -> Tensor:
    """Neumann's series: a weighted sum of the functions of the first kind of the orders 2k + ``order``, k > 0."""
    t, k = _angles(x, 2 * _CIRCLE), _line(_PAIRS, x) + 1
    sign = 2 * (k % 2) - 1
    weights = sign / k if order == 0 else sign * (2 * k + 1) / (k * (k + 1))
    turns = t[:, None] * (2 * k + order)
    cos, sin = (weights * turns.cos()).sum(-1), (weights * turns.sin()).sum(-1)
    waves = x[..., None] * t.sin()
    return _mean(cos * waves.cos() + sin * waves.sin())


def _y(order: int, x: Tensor) -> Tensor:
    """The function of the second kind of order 0 or 1: minus infinity at 0, NaN below."""
    near = x.clamp(min=1e-300, max=_J_FAR)
    log = torch.log(near / 2) + _EULER
    if order == 0:
        close = (2 * log * _j(0, near) + 4 * _neumann(0, near)) / math.pi
    else:
        close = ((log - 1) * _j(1, near) + _neumann(1, near) - _j(0, near) / near) * (2 / math.pi)
    result = torch.where(x < _J_FAR, close, _hankel(order, x)[1])
    return torch.where(x > 0, result, torch.where(x == 0, -math.inf, math.nan))


def _spherical_j0(x: Tensor) -> Tensor:
    """sin(x) / x; 1 at 0, 0 at infinity."""
    value = torch.where(x == 0, 1.0, x.sin() / x)
    return torch.where(x.abs() == math.inf, 0.0, value)


def _airy(x: Tensor) -> Tensor:
    """Airy's function Ai: its power series around 0, a Bessel function of the order 1/3 to the right, its asymptotic
    series to the left."""
    right = x.clamp(min=_AIRY_NEAR)
    z = right**1.5 * (2 / 3)
    beyond = (right / 3).sqrt() / math.pi * _k_far(1 / 3, z) * torch.exp(-z)
    result = torch.where(x > _AIRY_NEAR, beyond, _airy_near(x.clamp(min=-_AIRY_FAR, max=_AIRY_NEAR)))
    return torch.where(x < -_AIRY_FAR, _airy_left((-x).clamp(min=_AIRY_FAR)), result)


def _airy_near(x: Tensor) -> Tensor:
    first, second = [_AI], [_AI_SLOPE]
    for k in range(1, _AIRY_TERMS):
        first.append(first[-1] / ((3 * k - 1) * (3 * k)))
        second.append(second[-1] / ((3 * k) * (3 * k + 1)))
    cube = x * x * x
    return _polynomial(cube, first) + x * _polynomial(cube, second)


def _airy_left(size: Tensor) -> Tensor:
    z = size**1.5 * (2 / 3)
    a = _asymptotic(1 / 3, 12)
    minus = -1 / (z * z)
    even, odd = _polynomial(minus, a[::2]), _polynomial(minus, a[1::2]) / z
    phase = z - math.pi / 4
    return (even * phase.cos() - odd * phase.sin()) / (math.sqrt(math.pi) * size**0.25)


def _rounded(function: Function) -> Callable[[Any], Any]:
    """The function in double precision, rounded once; whole numbers become the default dtype."""

    def decomposed(x: Tensor) -> Tensor:
        dtype = x.dtype if x.is_floating_point() else torch.get_default_dtype()
        return function(x.to(torch.float64)).to(dtype)

    return decomposed


BESSEL: dict[str, Callable[..., Any]] = {
    "i0": _rounded(lambda x: _i(0, x)),
    "special_i0e": _rounded(lambda x: _i_scaled(0, x)),
    "special_i1": _rounded(lambda x: _i(1, x)),
    "special_i1e": _rounded(lambda x: _i_scaled(1, x)),
    "special_modified_bessel_i0": _rounded(lambda x: _i(0, x)),
    "special_modified_bessel_i1": _rounded(lambda x: _i(1, x)),
    "special_modified_bessel_k0": _rounded(lambda x: _k(0, x, False)),
    "special_modified_bessel_k1": _rounded(lambda x: _k(1, x, False)),
    "special_scaled_modified_bessel_k0": _rounded(lambda x: _k(0, x, True)),
    "special_scaled_modified_bessel_k1": _rounded(lambda x: _k(1, x, True)),
    "special_bessel_j0": _rounded(lambda x: _j(0, x)),
    "special_bessel_j1": _rounded(lambda x: _j(1, x)),
    "special_bessel_y0": _rounded(lambda x: _y(0, x)),
    "special_bessel_y1": _rounded(lambda x: _y(1, x)),
    "special_spherical_bessel_j0": _rounded(_spherical_j0),
    "special_airy_ai": _rounded(_airy),
}
