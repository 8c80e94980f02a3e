"""Random ops that make new tensors, on the device's stream."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from lazycore.frontend.copies import fresh_from_host
from lazycore.frontend.factories import empty
from lazycore.frontend.guard import guard
from lazycore.frontend.infer import infer
from lazycore.frontend.randomness import host
from lazycore.frontend.randomness.draw import draw_into, draw_new
from lazycore.frontend.randomness.generator import PROBE, uses_device_stream
from lazycore.frontend.schema import info_of
from lazycore.frontend.storage import NAME, is_ours, layout_for
from lazycore.frontend.stricter import check_cast
from lazycore.frontend.strides import stride_like
from lazycore.trace.layout import Layout

__all__ = [
    "bernoulli", "bernoulli_p", "bernoulli_tensor_", "filled", "multinomial", "native_dropout", "normal_of_tensors",
    "randperm",
]  # fmt: skip

aten = torch.ops.aten
Generator = torch.Generator | None


def filled(
    op: Any, fill: str, arguments: Callable[..., tuple[Any, tuple[Any, ...]]], default: torch.dtype | None
) -> Callable[..., torch.Tensor]:
    """The kernel of a factory that fills: ``arguments`` gives size and the filling op's own arguments. ``default``:
    the dtype where none is asked for, None for torch's default."""
    drawn = host.draw_new(op)
    base, _, variant = fill.partition(".")
    filling = getattr(getattr(aten, base), variant or "default")

    def kernel(
        *args: Any, generator: Generator = None, dtype: Any = None, layout: Any = None, device: Any = None, **_: Any
    ) -> torch.Tensor:
        if not uses_device_stream(generator):
            given = {} if generator is None else {"generator": generator}
            return drawn(*args, dtype=dtype or default, layout=layout, device=device, **given)
        size, numbers = arguments(*args)
        return filling(empty(size, dtype or default, layout, device), *numbers)  # type: ignore[no-any-return]

    return kernel


def randperm(
    n: int, *, generator: Generator = None, dtype: Any = None, layout: Any = None, device: Any = None, **_: Any
) -> torch.Tensor:
    """``aten::randperm``."""
    dtype = dtype or torch.int64
    dtype = dtype or torch.int64
    if not uses_device_stream(generator):
        op = aten.randperm.default if generator is None else aten.randperm.generator
        given = {} if generator is None else {"generator": generator}
        return host.draw_new(op)(n, dtype=dtype, layout=layout, device=device, **given)
    if n < 0 or dtype is not torch.int64:
        # Raises for a length below zero or one that the dtype cannot count to.
        torch.randperm(n, dtype=dtype, device="cpu", generator=PROBE)
    return draw_into(empty((n,), dtype, layout, device), "permutation", ())  # type: ignore[no-any-return]


def normal_of_tensors(op: Any) -> Callable[..., torch.Tensor]:
    """``aten::normal`` with a tensor for the mean, the deviation or both."""
    info = info_of(op)

    def kernel(mean: Any, std: Any = 1.0, *, generator: Generator = None) -> torch.Tensor:
        if not uses_device_stream(generator):
            moved = [x.cpu() if is_ours(x) else x for x in (mean, std)]
            return fresh_from_host(op(*moved, generator=generator))
        if isinstance(std, torch.Tensor):
            torch._check(not std.is_complex(), lambda: "normal expects standard deviation to be non-complex")
        (like,) = infer(info, (mean, std), {}).outputs
        assert like is not None
        result = torch.empty(like.shape, dtype=like.dtype, device=NAME)
        if isinstance(std, torch.Tensor):
            guard(std >= 0, "normal expects all elements of std >= 0.0")
        parameters = [x.to(NAME) if isinstance(x, torch.Tensor) else float(x) for x in (mean, std)]
        return draw_into(result, "normal", parameters)  # type: ignore[no-any-return]

    return kernel


def bernoulli(x: torch.Tensor, *, generator: Generator = None) -> torch.Tensor:
    """``aten::bernoulli``: x holds the probabilities."""
    if not uses_device_stream(generator):
        return host.bernoulli(x, generator=generator)
    if not x.is_floating_point():
        torch.bernoulli(torch.zeros(1, dtype=x.dtype, device="cpu"), generator=PROBE)  # raises
    return bernoulli_tensor_(torch.empty_like(x), x)


def bernoulli_p(x: torch.Tensor, p: float, *, generator: Generator = None) -> torch.Tensor:
    """``aten::bernoulli.p``: as many draws as x has elements."""
    return aten.bernoulli_.float(torch.empty_like(x), p, generator=generator)  # type: ignore[no-any-return]


def bernoulli_tensor_(x: torch.Tensor, p: torch.Tensor, *, generator: Generator = None) -> torch.Tensor:
    """``aten::bernoulli_.Tensor``."""
    if not uses_device_stream(generator):
        return host.bernoulli_tensor_(x, p, generator)
    if not p.is_floating_point():
        raise RuntimeError("Expected floating point probabilities to be true, but got false.")
    if p.shape != x.shape:
        p = p.expand(x.shape)
    p = p.to(NAME)
    guard((p >= 0) & (p <= 1), "Expected p_in >= 0 && p_in <= 1 to be true, but got false.")
    return draw_into(x, "bernoulli", (p,))  # type: ignore[no-any-return]


def native_dropout(x: torch.Tensor, p: float, train: bool | None) -> tuple[torch.Tensor, torch.Tensor]:
    """``aten::native_dropout``, which torch's dropout asks of a device."""
    if train is False or not uses_device_stream(None):
        return host.native_dropout(x, p, train)
    if not x.is_floating_point() and not x.is_complex():
        check_cast(torch.empty(0, device="meta"), x)

    def layouts() -> tuple[Layout, ...]:
        stride = stride_like(x.shape, x.stride())
        return layout_for(x.shape, stride, x.dtype), layout_for(x.shape, stride, torch.bool)

    keep = 1.0 - p
    return draw_new("dropout", (x, keep, 1.0 / keep if keep else 0.0), layouts, None)  # type: ignore[return-value]


# As many as float32 tells apart; the CPU takes no more.
_CATEGORIES = 2**24


def multinomial(
    x: torch.Tensor, num_samples: int, replacement: bool = False, *, generator: Generator = None
) -> torch.Tensor:
    """``aten::multinomial``: a race of exponential clocks, one per category; the first to ring are the sample."""
    op = aten.multinomial.default
    if not uses_device_stream(generator) or (replacement and num_samples > 1):
        from lazycore.frontend.at_once import eager_kernel

        return eager_kernel(info_of(op))(x, num_samples, replacement, generator=generator)  # type: ignore[no-any-return]
    most = x.shape[-1] if x.dim() in (1, 2) and x.is_floating_point() else 0
    if not 0 < num_samples <= most or most > _CATEGORIES or not x.numel():
        # Raises, or is empty.
        result: torch.Tensor = op(torch.ones_like(x, device="cpu"), num_samples, replacement, generator=PROBE)
        return result.to(NAME)
    guard((x.max() < float("inf")) & (x.min() >= 0), "probability tensor contains either `inf`, `nan` or element < 0")
    guard(x.sum(-1) != 0, "invalid multinomial distribution (sum of probabilities <= 0)")
    wide = x if x.dtype in (torch.float32, torch.float64) else x.float()
    ahead = wide / torch.empty_like(wide).exponential_()
    return ahead.argmax(-1, keepdim=True) if num_samples == 1 else ahead.topk(num_samples).indices
