"""The kernels of random ops, by overload name."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import torch

from lazycore.frontend.randomness import host, sampling
from lazycore.frontend.randomness.filling import FILLING, fill_kernel

__all__ = ["random_kernels"]

aten = torch.ops.aten

_INT = torch.int64
_FILLED: list[tuple[str, str, Callable[..., Any], torch.dtype | None]] = [
    ("rand.default", "uniform_", lambda size: (size, ()), None),
    ("rand.generator", "uniform_", lambda size: (size, ()), None),
    ("randn.default", "normal_", lambda size: (size, ()), None),
    ("randn.generator", "normal_", lambda size: (size, ()), None),
    ("normal.float_float", "normal_", lambda mean, std, size: (size, (mean, std)), None),
    ("randint.default", "random_.from", lambda high, size: (size, (0, high)), _INT),
    ("randint.generator", "random_.from", lambda high, size: (size, (0, high)), _INT),
    ("randint.low", "random_.from", lambda low, high, size: (size, (low, high)), _INT),
    ("randint.low_generator", "random_.from", lambda low, high, size: (size, (low, high)), _INT),
]
"""Factory, the op that fills, size and that op's arguments from the factory's, dtype by default."""


_NORMALS = ("normal.Tensor_float", "normal.float_Tensor", "normal.Tensor_Tensor")


def _overload(name: str) -> Any:
    base, _, variant = name.partition(".")
    return getattr(getattr(aten, base), variant or "default")


@cache
def random_kernels() -> dict[str, Callable[..., Any]]:
    """Overload -> kernel. Built on first use: importing the package must not look up operators."""
    filled = {
        name.removesuffix(".default"): sampling.filled(_overload(name), fill, given, dtype)
        for name, fill, given, dtype in _FILLED
    }
    tensors = {n: sampling.normal_of_tensors(_overload(n)) for n in _NORMALS}
    return {
        **filled,
        **tensors,
        **{name: fill_kernel(name) for name in FILLING},
        "randperm": sampling.randperm,
        "randperm.generator": sampling.randperm,
        "bernoulli": sampling.bernoulli,
        "bernoulli.p": sampling.bernoulli_p,
        "bernoulli_.Tensor": sampling.bernoulli_tensor_,
        "native_dropout": sampling.native_dropout,
        "native_dropout_backward": host.native_dropout_backward,
        "multinomial": sampling.multinomial,
    }
