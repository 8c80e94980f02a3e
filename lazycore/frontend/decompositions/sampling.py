"""Sampling an image at positions of a grid, in two and three dimensions."""

from __future__ import annotations

from collections.abc import Callable

import torch

__all__ = ["SAMPLING", "grid_sampler_2d", "grid_sampler_3d"]

_BILINEAR, _NEAREST, _BICUBIC = 0, 1, 2
_ZEROS, _BORDER = 0, 1
_CUBIC = -0.75


def _unnormalized(place: torch.Tensor, size: int, align: bool) -> torch.Tensor:
    """From [-1, 1] to positions along a dimension; ``align``: the ends are the centers of the outermost elements."""
    return (place + 1) / 2 * (size - 1) if align else ((place + 1) * size - 1) / 2


def _reflected(place: torch.Tensor, low: float, high: float) -> torch.Tensor:
    """Mirrored at both borders until inside."""
    span = high - low
    if span == 0:
        return torch.zeros_like(place)
    away = (place - low).abs()
    rest, flips = away.fmod(span), (away / span).floor()
    return torch.where(flips.fmod(2) == 0, rest + low, span - rest + low)


def _placed(place: torch.Tensor, size: int, padding: int, align: bool) -> torch.Tensor:
    if padding == _ZEROS:
        return place
    if padding != _BORDER:
        place = _reflected(place, 0, size - 1) if align else _reflected(place, -0.5, size - 0.5)
    return place.clamp(0, size - 1)


def _read(x: torch.Tensor, corner: list[torch.Tensor]) -> torch.Tensor:
    """Elements of x (N, C, *sizes) at whole positions, each (N, *out) or broadcastable to it; 0 outside."""
    sizes = x.shape[2:]
    inside = torch.ones((), dtype=torch.bool, device=x.device)
    flat = torch.zeros((), dtype=torch.int64, device=x.device)
    for place, size in zip(corner, sizes, strict=True):
        inside = inside & (place >= 0) & (place <= size - 1)
        whole = torch.where(inside, place, 0).clamp(0, size - 1).to(torch.int64)
        flat = flat * size + whole
    batch, channels = x.shape[:2]
    index = flat.reshape(batch, 1, -1).expand(batch, channels, flat[0].numel())
    values = x.reshape(batch, channels, -1).gather(2, index).reshape(batch, channels, *flat.shape[1:])
    return torch.where(inside.unsqueeze(1), values, 0)


def _weighted(x: torch.Tensor, places: list[torch.Tensor], weights: list[torch.Tensor]) -> torch.Tensor:
    """The weighted sum of x's elements around each position. Per dimension ``places`` and ``weights`` (k, N, *out): its
    k neighbours there. All k^n are read at once, for graphs as small with many as with few."""
    n = len(places)
    weight = torch.ones((), dtype=x.dtype, device=x.device)
    for i in range(n):
        weight = weight * _on_axis(weights[i], i, n)
    values = _read(x, [_on_axis(place, i, n) for i, place in enumerate(places)])
    return (values * weight.unsqueeze(1)).sum(tuple(range(2, 2 + n)))


def _on_axis(neighbours: torch.Tensor, axis: int, n: int) -> torch.Tensor:
    """(k, N, *out) as (N, 1, .., k, .., 1, *out), with k at one of n places."""
    moved = neighbours.movedim(0, 1)
    return moved.reshape(moved.shape[0], *(1,) * axis, moved.shape[1], *(1,) * (n - 1 - axis), *moved.shape[2:])


def _linear(x: torch.Tensor, places: list[torch.Tensor]) -> torch.Tensor:
    below = [p.floor() for p in places]
    weights = [torch.stack([b + 1 - p, p - b]) for p, b in zip(places, below, strict=True)]
    return _weighted(x, [torch.stack([b, b + 1]) for b in below], weights)


def _cubic_weights(t: torch.Tensor) -> list[torch.Tensor]:
    def near(d: torch.Tensor) -> torch.Tensor:
        return ((_CUBIC + 2) * d - (_CUBIC + 3)) * d * d + 1

    def far(d: torch.Tensor) -> torch.Tensor:
        return ((_CUBIC * d - 5 * _CUBIC) * d + 8 * _CUBIC) * d - 4 * _CUBIC

    return [far(t + 1), near(t), near(1 - t), far(2 - t)]


def _cubic(x: torch.Tensor, places: list[torch.Tensor], padding: int, align: bool) -> torch.Tensor:
    below = [p.floor() for p in places]
    weights = [torch.stack(_cubic_weights(p - b)) for p, b in zip(places, below, strict=True)]
    around = [torch.stack([b - 1, b, b + 1, b + 2]) for b in below]
    return _weighted(
        x, [_placed(p, size, padding, align) for p, size in zip(around, x.shape[2:], strict=True)], weights
    )


def _grid_sampler(x: torch.Tensor, grid: torch.Tensor, mode: int, padding: int, align: bool) -> torch.Tensor:
    """16-bit operands are computed with in float32: positions rounded to 8 bits would name other elements."""
    if x.dtype in (torch.float16, torch.bfloat16):
        return _grid_sampler(x.float(), grid.float(), mode, padding, align).to(x.dtype)
    # The grid's last dimension names the image's dimensions backwards.
    sizes = x.shape[2:]
    places = [grid[..., len(sizes) - 1 - i] for i in range(len(sizes))]
    places = [_unnormalized(p, size, align) for p, size in zip(places, sizes, strict=True)]
    if mode == _BICUBIC:
        return _cubic(x, places, padding, align)
    places = [_placed(p, size, padding, align) for p, size in zip(places, sizes, strict=True)]
    return _read(x, [p.round() for p in places]) if mode == _NEAREST else _linear(x, places)


def grid_sampler_2d(x: torch.Tensor, grid: torch.Tensor, mode: int, padding: int, align: bool) -> torch.Tensor:
    """``aten::grid_sampler_2d``: x (N, C, H, W), grid (N, *out, 2)."""
    return _grid_sampler(x, grid, mode, padding, align)


def grid_sampler_3d(x: torch.Tensor, grid: torch.Tensor, mode: int, padding: int, align: bool) -> torch.Tensor:
    """``aten::grid_sampler_3d``: x (N, C, D, H, W), grid (N, *out, 3)."""
    return _grid_sampler(x, grid, mode, padding, align)


SAMPLING: dict[str, Callable[..., torch.Tensor]] = {
    "grid_sampler_2d": grid_sampler_2d,
    "grid_sampler_3d": grid_sampler_3d,
}
