"""Relatives of the error function, in double precision."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch

__all__ = ["SPECIAL"]

Tensor = torch.Tensor

_FAR = 25.0


def _erfcx(x: Tensor) -> Tensor:
    """exp(x^2) erfc(x): a product, or the asymptotic series where its factors leave the range of doubles."""
    near, far = x.clamp(max=_FAR), x.clamp(min=_FAR)
    step = -1 / (2 * far * far)
    series = torch.full_like(x, 1)
    for k in range(7, 0, -1):
        series = 1 + series * step * (2 * k - 1)
    return torch.where(x > _FAR, series / (far * math.sqrt(math.pi)), torch.exp(near * near) * torch.erfc(near))


def _log_ndtr(x: Tensor) -> Tensor:
    """The logarithm of the normal distribution function, also where that is too small for a double."""
    scaled = x * math.sqrt(0.5)
    low = torch.log(_erfcx((-scaled).clamp(min=0)) / 2) - scaled * scaled
    return torch.where(x < -1, low, torch.log1p(-torch.erfc(scaled) / 2))


def _quantile(tail: Tensor) -> Tensor:
    """Where the normal distribution leaves this much, at most a half, above: a rational guess (Abramowitz and Stegun
    26.2.23), which two of Newton's steps on the logarithm sharpen."""
    target = torch.log(tail)
    t = (-2 * target).sqrt()
    x = t - (2.515517 + t * (0.802853 + t * 0.010328)) / (1 + t * (1.432788 + t * (0.189269 + t * 0.001308)))
    for _ in range(2):
        scaled = _erfcx(x * math.sqrt(0.5))
        x = x + (torch.log(scaled / 2) - x * x / 2 - target) * scaled * math.sqrt(math.pi / 2)
    return x


def _ndtri(p: Tensor) -> Tensor:
    """The inverse of the normal distribution function; infinite at 0 and 1, NaN outside."""
    high = p > 0.5
    tail = torch.where(high, 1 - p, p)
    size = torch.where(tail > 0, _quantile(tail), torch.where(tail == 0, math.inf, math.nan))
    return torch.where(high, size, -size)


def _erfinv(y: Tensor) -> Tensor:
    """The inverse of erf: by its power series near 0, where a quantile would lose digits."""
    size, square = y.abs(), y * y
    far = -_ndtri((1 - size) / 2) * math.sqrt(0.5)
    near = y * (math.sqrt(math.pi) / 2) * (1 + square * (math.pi / 12) * (1 + square * (7 * math.pi / 40)))
    return torch.where(size < 1e-3, near, torch.copysign(far, y))


def _rounded(function: Callable[[Tensor], Tensor]) -> Callable[[Any], Any]:
    """The function in double precision, rounded once; whole numbers become the default dtype."""

    def decomposed(x: Tensor) -> Tensor:
        dtype = x.dtype if x.is_floating_point() else torch.get_default_dtype()
        return function(x.to(torch.float64)).to(dtype)

    return decomposed


SPECIAL: dict[str, Callable[..., Any]] = {
    "special_erfcx": _rounded(_erfcx),
    "special_log_ndtr": _rounded(_log_ndtr),
    "special_ndtri": _rounded(_ndtri),
    "erfinv": _rounded(_erfinv),
}
