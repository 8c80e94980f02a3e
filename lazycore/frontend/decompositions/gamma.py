"""Derivatives of the gamma function's logarithm, and Hurwitz's zeta function, in double precision: a few terms of
their sums, then the formula of Euler and Maclaurin."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch

__all__ = ["GAMMA"]

Tensor = torch.Tensor

# The Bernoulli numbers B(2), B(4), …
_BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510, 43867 / 798, -174611 / 330)
_FAR = 10


def _shifts(x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """The numbers x, x + 1, … along a new dimension, which of them are below ``_FAR``, and the first that is not."""
    count = (_FAR - x).ceil().clamp(0, _FAR)
    steps = torch.arange(_FAR, dtype=x.dtype, device=x.device)
    return x[..., None] + steps, steps < count[..., None], x + count


def _digamma(x: Tensor) -> Tensor:
    """Infinite at 0, with the opposite of its sign; NaN at the other poles; by reflection below 0."""
    low = x < 0
    places, near, far = _shifts(torch.where(low, 1 - x, x))
    total = far.log() - 1 / (2 * far) - torch.where(near, 1 / places, 0).sum(-1)
    square, power = far * far, far * far
    for k, number in enumerate(_BERNOULLI, 1):
        total = total - number / (2 * k * power)
        power = power * square
    distance = x - x.round()
    mirrored = total - math.pi / torch.tan(math.pi * distance)
    total = torch.where(low, torch.where(distance == 0, math.nan, mirrored), total)
    total = torch.where(x == math.inf, x, total)
    return torch.where(x == 0, torch.copysign(torch.full_like(x, math.inf), -x), total)


def _positive_zeta(s: Tensor, q: Tensor) -> Tensor:
    """The sum of (q + k) ** -s over k = 0, 1, … for s > 1, q > 0."""
    places, near, far = _shifts(q)
    total = torch.where(near, places ** -s[..., None], 0).sum(-1)
    power = far**-s
    total = total + power * far / (s - 1) + power / 2
    factor = s * power / far
    for k, number in enumerate(_BERNOULLI, 1):
        total = total + factor * (number / math.factorial(2 * k))
        factor = factor * (s + 2 * k - 1) * (s + 2 * k) / (far * far)
    return total


def _zeta(s: Tensor, q: Tensor) -> Tensor:
    """Infinite for s = 1 and at the poles q = 0, -1, …; NaN for s < 1, and below 0 unless s is whole. An infinite s
    gives infinity below 1 and NaN above."""
    s, q = torch.broadcast_tensors(s, q)
    base, below = q.floor(), q < 0
    rest = torch.where(below, q - base, q)
    # The terms below 0 are, but for a sign, those between two positive numbers.
    ends = torch.stack([torch.where(rest == 0, 1, rest), (base + 1) - q, torch.where(below, 1 - q, 1)])
    whole, first, last = _positive_zeta(s, ends).unbind()
    negative = whole + (1 - 2 * torch.remainder(s, 2)) * (first - last)
    total = torch.where(below, torch.where(s == s.floor(), negative, math.nan), whole)
    total = torch.where(s == math.inf, torch.where(q < 1, math.inf, torch.where(q == 1, 1.0, math.nan)), total)
    total = torch.where((q <= 0) & (q == base), math.inf, total)
    return torch.where(s == 1, math.inf, torch.where(s < 1, math.nan, total))


def _rounded(x: Tensor, like: Tensor) -> Tensor:
    return x.to(like.dtype if like.is_floating_point() else torch.get_default_dtype())


def digamma(x: Tensor) -> Tensor:
    """``aten::digamma``."""
    return _rounded(_digamma(x.to(torch.float64)), x)


def zeta(s: Tensor, q: Tensor) -> Tensor:
    """``aten::special_zeta``."""
    return _rounded(_zeta(s.to(torch.float64), q.to(torch.float64)), s)


def polygamma(n: int, x: Tensor) -> Tensor:
    """``aten::polygamma``: derivative n of the digamma function. Steep between poles: 16 bits compute in 32."""
    if n == 0:
        return torch.digamma(x)
    if x.dtype in (torch.float16, torch.bfloat16):
        return polygamma(n, x.to(torch.float32)).to(x.dtype)
    scale = (1 if n % 2 else -1) * float(math.factorial(n))
    if n == 1:
        # zeta knows no negative numbers between the poles; the first derivative is reflected there.
        mirrored = torch.where(x < 0.5, 1 - x, x)
        value = torch.special.zeta(torch.full_like(x, 2), mirrored)
        return torch.where(x < 0.5, (math.pi / (math.pi * x).sin()).square() - value, value)
    return scale * torch.special.zeta(torch.full_like(x, n + 1), x)


GAMMA: dict[str, Callable[..., Any]] = {"digamma": digamma, "special_zeta": zeta, "polygamma": polygamma}
