"""Draws from CPU's stream, made when the op is recorded: under ``config.rng = "cpu"`` a program equals CPU eager bit
for bit, and an explicit generator is always a CPU one. The draws enter the trace as inputs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from lazycore.frontend.copies import fresh_from_host, store_from_host
from lazycore.frontend.dtypes import array_of
from lazycore.frontend.storage import adopt, check_device, is_ours, layout_for
from lazycore.runtime.buffers import DeviceValue
from lazycore.trace.layout import contiguous_stride, is_dense

__all__ = ["bernoulli", "bernoulli_tensor_", "draw_in_place", "draw_new", "native_dropout", "native_dropout_backward"]


def draw_in_place(op: Any) -> Callable[..., torch.Tensor]:
    """The kernel of a draw into a tensor: the same draw on the CPU, into a tensor of the same geometry (fills follow
    memory order), stored."""

    def kernel(x: torch.Tensor, *args: Any, **kwargs: Any) -> torch.Tensor:
        image = torch.empty_strided(x.size(), _dense(x), dtype=x.dtype, device="cpu")
        op(image, *args, **kwargs)
        store_from_host(x, image)
        return x

    return kernel


def draw_new(op: Any) -> Callable[..., torch.Tensor]:
    """The kernel of a draw of a new tensor without tensor arguments: ``randperm``, ``normal.float_float``, …"""

    def kernel(*args: Any, device: Any = None, pin_memory: Any = None, **kwargs: Any) -> torch.Tensor:  # noqa: ARG001
        if device is not None:
            check_device(device)
        return fresh_from_host(op(*args, device=torch.device("cpu"), **kwargs))

    return kernel


def _dense(x: torch.Tensor) -> tuple[int, ...]:
    size = tuple(x.shape)
    return x.stride() if is_dense(size, x.stride()) else contiguous_stride(size)


def from_image(x: torch.Tensor) -> torch.Tensor:
    """A CPU draw as a new device tensor."""
    return adopt(layout_for(x.shape, x.stride(), x.dtype), DeviceValue.from_host(array_of(x)))


def bernoulli(x: torch.Tensor, *, generator: torch.Generator | None = None) -> torch.Tensor:
    """``aten::bernoulli``: the probabilities are read, so this is an observation."""
    return fresh_from_host(torch.bernoulli(x.cpu(), generator=generator))


def bernoulli_tensor_(x: torch.Tensor, p: torch.Tensor, generator: torch.Generator | None = None) -> torch.Tensor:
    """``aten::bernoulli_.Tensor``."""
    image = torch.empty_strided(x.size(), _dense(x), dtype=x.dtype, device="cpu")
    image.bernoulli_(p.cpu() if is_ours(p) else p, generator=generator)
    store_from_host(x, image)
    return x


def native_dropout(x: torch.Tensor, p: float, train: bool | None) -> tuple[torch.Tensor, torch.Tensor]:
    """``aten::native_dropout``, which torch's dropout asks of a device. The noise is drawn and scaled as the CPU's
    dropout does it: ``noise.bernoulli_(1 - p).div_(1 - p)``."""
    if train is False:
        return torch.ops.aten.clone.default(x), torch.ones(x.shape, dtype=torch.bool, device=x.device)
    noise = torch.empty_strided(x.size(), _dense(x), dtype=x.dtype, device="cpu")
    if p == 1:
        noise.zero_()
        mask = noise.bool()
    else:
        noise.bernoulli_(1 - p)
        mask = noise.bool()
        noise.div_(1 - p)
    return torch.ops.aten.mul.Tensor(x, from_image(noise)), from_image(mask)


def native_dropout_backward(grad: torch.Tensor, mask: torch.Tensor, scale: float) -> torch.Tensor:
    """``aten::native_dropout_backward``: ``grad * mask * scale``."""
    scaled = torch.ops.aten.mul.Tensor(torch.ops.aten._to_copy.default(mask, dtype=grad.dtype), scale)
    return torch.ops.aten.mul.Tensor(grad, scaled)  # type: ignore[no-any-return]
