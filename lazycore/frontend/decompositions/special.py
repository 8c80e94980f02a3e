"""Special functions in terms of a few that backends have."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch

__all__ = ["SPECIAL"]


def polygamma(n: int, x: torch.Tensor) -> torch.Tensor:
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


SPECIAL: dict[str, Callable[..., Any]] = {"polygamma": polygamma}
