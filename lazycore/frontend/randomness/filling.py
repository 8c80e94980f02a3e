"""``normal_``, ``random_`` and their like on the device's stream: the distribution that each asks for."""

from __future__ import annotations

from collections.abc import Callable
from math import log1p, sqrt
from typing import Any, TypeAlias

import torch

from lazycore.frontend.randomness.draw import Parameter, draw_into
from lazycore.frontend.randomness.generator import PROBE, uses_device_stream
from lazycore.frontend.randomness.host import draw_in_place

__all__ = ["FILLING", "fill_kernel"]

Plan: TypeAlias = tuple[str, tuple[Parameter, ...], tuple[int, ...]]
"""The distribution, its parameters, and its literals."""


def _uniform(dtype: torch.dtype, low: float = 0.0, high: float = 1.0) -> Plan:  # noqa: ARG001
    return "uniform", (float(low), float(high) - float(low)), ()


def _normal(dtype: torch.dtype, mean: float = 0.0, std: float = 1.0) -> Plan:  # noqa: ARG001
    return "normal", (float(mean), float(std)), ()


def _log_normal(dtype: torch.dtype, mean: float = 1.0, std: float = 2.0) -> Plan:  # noqa: ARG001
    return "log_normal", (float(mean), float(std)), ()


def _exponential(dtype: torch.dtype, rate: float = 1.0) -> Plan:  # noqa: ARG001
    return "exponential", (float(rate),), ()


def _cauchy(dtype: torch.dtype, median: float = 0.0, sigma: float = 1.0) -> Plan:  # noqa: ARG001
    return "cauchy", (float(median), float(sigma)), ()


def _geometric(dtype: torch.dtype, p: float) -> Plan:  # noqa: ARG001
    return "geometric", (log1p(-p) if p < 1 else -float("inf"),), ()


def _bernoulli(dtype: torch.dtype, p: float = 0.5) -> Plan:  # noqa: ARG001
    return "bernoulli", (float(p),), ()


_INTEGERS_HELD = {torch.float64: 1 << 53, torch.float32: 1 << 24, torch.float16: 1 << 11, torch.bfloat16: 1 << 8}
"""Up to which whole number a float dtype holds every one."""


def _largest(dtype: torch.dtype) -> int:
    if dtype is torch.bool:
        return 1
    return _INTEGERS_HELD.get(dtype) or torch.iinfo(dtype).max


def _integers(low: int, end: int) -> Plan:
    """Whole numbers in [low, end)."""
    high, lower = divmod(end - low, 1 << 32)
    return "integers", (low, lower), (high,)


def _random(dtype: torch.dtype) -> Plan:
    return _integers(0, _largest(dtype) + 1)


def _random_from(dtype: torch.dtype, low: int, end: int | None) -> Plan:
    return _integers(low, _largest(dtype) + 1 if end is None else end)


def _random_to(dtype: torch.dtype, end: int) -> Plan:  # noqa: ARG001
    return _integers(0, end)


FILLING: dict[str, Callable[..., Plan]] = {
    "uniform_": _uniform,
    "normal_": _normal,
    "log_normal_": _log_normal,
    "exponential_": _exponential,
    "cauchy_": _cauchy,
    "geometric_": _geometric,
    "bernoulli_.float": _bernoulli,
    "random_": _random,
    "random_.from": _random_from,
    "random_.to": _random_to,
}
"""Overload -> its plan, from the dtype and the arguments after the tensor."""


def fill_kernel(name: str) -> Callable[..., torch.Tensor]:
    """The kernel of an in-place draw."""
    base, _, variant = name.partition(".")
    op, plan = getattr(getattr(torch.ops.aten, base), variant or "default"), FILLING[name]
    host = draw_in_place(op)

    def kernel(x: torch.Tensor, *args: Any, generator: torch.Generator | None = None) -> torch.Tensor:
        if not uses_device_stream(generator):
            return host(x, *args, generator=generator)
        # Raises for a wrong dtype or parameter what the CPU raises.
        op(torch.empty(1, dtype=x.dtype, device="cpu"), *args, generator=PROBE)
        if x.is_complex():
            kernel(torch.view_as_real(x), *_of_parts(base, args))
            return x
        return draw_into(x, *plan(x.dtype, *args))  # type: ignore[no-any-return]

    return kernel


def _of_parts(base: str, args: tuple[Any, ...]) -> tuple[Any, ...]:
    """The arguments for real and imaginary part: half of a normal variance goes to each."""
    if base != "normal_":
        return args
    mean, std = (*args, 0.0, 1.0)[:2] if len(args) != 1 else (args[0], 1.0)
    return mean, std / sqrt(2.0)
