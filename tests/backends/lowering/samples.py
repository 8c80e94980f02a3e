"""Tensors for the case tables: reproducible, and the awkward ones by name."""

from __future__ import annotations

import torch

INF, NAN = float("inf"), float("nan")


def floats(
    *shape: int, dtype: torch.dtype = torch.float32, low: float = -3.0, high: float = 3.0, seed: int = 0
) -> torch.Tensor:
    """Uniform floats of the given shape."""
    generator = torch.Generator().manual_seed(seed + 1000 * len(shape) + sum(shape))
    return (torch.rand(shape, generator=generator, dtype=torch.float64) * (high - low) + low).to(dtype)


def ints(*shape: int, dtype: torch.dtype = torch.int64, low: int = -9, high: int = 9, seed: int = 0) -> torch.Tensor:
    """Uniform integers from ``low`` up to, not including, ``high``."""
    generator = torch.Generator().manual_seed(seed + 1000 * len(shape) + sum(shape))
    return torch.randint(low, high, shape, generator=generator).to(dtype)


def bools(*shape: int, seed: int = 0) -> torch.Tensor:
    """Random booleans."""
    return ints(*shape, low=0, high=2, seed=seed).bool()


def permutation(size: int, seed: int = 0) -> torch.Tensor:
    """The integers below ``size`` in random order: indices without a repetition."""
    return torch.randperm(size, generator=torch.Generator().manual_seed(seed))


def special(dtype: torch.dtype = torch.float32) -> torch.Tensor:
    """NaN, both infinities, both zeros and some ordinary numbers, halves for the rounding ops among them."""
    return torch.tensor([NAN, INF, -INF, 0.0, -0.0, 1.0, -1.0, 0.5, 1.5, 2.5, -0.5, -2.5, 7.25, -7.75], dtype=dtype)


def special_pairs(dtype: torch.dtype = torch.float32) -> tuple[torch.Tensor, torch.Tensor]:
    """Every pair of the special values, as operands that broadcast."""
    return special(dtype)[:, None], special(dtype)[None, :]


def unary_samples() -> list[torch.Tensor]:
    """What every float function of one operand must survive: 2-d, 0-d, empty, special values, the half types."""
    return [
        floats(3, 5),
        floats(seed=7),
        floats(0, 3),
        special(),
        floats(9, dtype=torch.float64),
        floats(9, dtype=torch.float16),
        floats(9, dtype=torch.bfloat16),
    ]


def whole_samples() -> list[torch.Tensor]:
    """Integers of several widths and booleans, for ops that keep them."""
    return [ints(3, 5), ints(dtype=torch.int32), ints(7, dtype=torch.int8), ints(0, 2), ints(4, dtype=torch.int16)]
