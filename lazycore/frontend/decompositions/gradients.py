"""Backward ops as vector-Jacobian products of their forward op's decomposition."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from lazycore.frontend.decompositions.sampling import grid_sampler_2d, grid_sampler_3d
from lazycore.frontend.decompositions.upsampling import UPSAMPLING
from lazycore.frontend.schema import overload

__all__ = ["GRADIENTS"]

Function = Callable[..., Any]


def _forward(name: str) -> Function:
    if name in UPSAMPLING:
        return UPSAMPLING[name]
    return _torchs(name)


def _torchs(name: str) -> Function:
    from torch._decomp import global_decomposition_table

    return global_decomposition_table["post_autograd"][overload(f"aten::{name}")]


def _vjp(function: Function, primals: tuple[torch.Tensor, ...], grad: torch.Tensor) -> tuple[torch.Tensor, ...]:
    with torch.enable_grad():
        _, pull = torch.func.vjp(function, *primals)
        return pull(grad)  # type: ignore[no-any-return]


def _resampling(forward: str) -> Function:
    """The gradient of an upsampling: linear, so that any point will do."""

    def backward(grad: torch.Tensor, output_size: Any, input_size: Any, *rest: Any) -> torch.Tensor:
        at = torch.zeros(tuple(input_size), dtype=grad.dtype, device=grad.device)
        return _vjp(lambda x: _forward(forward)(x, output_size, *rest), (at,), grad)[0]

    return backward


def _nearest(forward: str) -> Function:
    """The CPU heeds no scale along a size that stays as it is or doubles."""
    general = _resampling(forward)

    def backward(grad: torch.Tensor, output_size: Any, input_size: Any, *scales: float | None) -> torch.Tensor:
        sizes = zip(scales, output_size, input_size[2:], strict=True)
        return general(grad, output_size, input_size, *(None if o in (i, 2 * i) else s for s, o, i in sizes))

    return backward


def _cubic(forward: str) -> Function:
    """Where no size changes the CPU passes the gradient on, though its forward pass heeds the scales."""
    general = _resampling(forward)

    def backward(grad: torch.Tensor, output_size: Any, input_size: Any, *rest: Any) -> torch.Tensor:
        if tuple(output_size) == tuple(input_size[2:]):
            return grad.clone()
        return general(grad, output_size, input_size, *rest)

    return backward


def _padding(forward: str) -> Function:
    def backward(grad: torch.Tensor, x: torch.Tensor, padding: Any) -> torch.Tensor:
        return _vjp(lambda y: _torchs(forward)(y, padding), (torch.zeros_like(x),), grad)[0]

    return backward


def _sampling(forward: Function) -> Function:
    def backward(
        grad: torch.Tensor, x: torch.Tensor, grid: torch.Tensor, mode: int, padding: int, align: bool, mask: Any
    ) -> tuple[torch.Tensor | None, torch.Tensor]:
        dx, dgrid = _vjp(lambda a, b: forward(a, b, mode, padding, align), (x, grid), grad)
        return (dx if mask[0] else torch.zeros(0, dtype=x.dtype, device=x.device)), dgrid

    return backward


def weight_norm_backward(
    grad: torch.Tensor, v: torch.Tensor, g: torch.Tensor, norms: torch.Tensor, dim: int
) -> tuple[torch.Tensor, torch.Tensor]:
    """``aten::_weight_norm_interface_backward``: of w = g v / |v|, the norm over all dimensions but ``dim``."""
    others = [d for d in range(v.dim()) if d != dim % v.dim()]
    along = (grad * v).sum(others, keepdim=True) / norms
    return (g / norms * (grad - v * along / norms)).to(v.dtype), along.to(g.dtype)


_UPSAMPLINGS = (
    "_upsample_nearest_exact1d", "_upsample_nearest_exact2d", "_upsample_nearest_exact3d", "upsample_linear1d",
    "upsample_bilinear2d", "upsample_trilinear3d",
)  # fmt: skip

GRADIENTS: dict[str, Function] = {
    **{f"{name}_backward": _resampling(name) for name in _UPSAMPLINGS},
    **{f"upsample_nearest{n}d_backward": _nearest(f"upsample_nearest{n}d") for n in (1, 2, 3)},
    "upsample_bicubic2d_backward": _cubic("upsample_bicubic2d"),
    **{f"replication_pad{n}d_backward": _padding(f"replication_pad{n}d") for n in (1, 2, 3)},
    "_weight_norm_interface_backward": weight_norm_backward,
    "grid_sampler_2d_backward": _sampling(grid_sampler_2d),
    "grid_sampler_3d_backward": _sampling(grid_sampler_3d),
}
