"""Pooling that backends seldom have: by gathered windows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import torch

__all__ = ["POOLING"]

aten = torch.ops.aten


def _range(n: int, device: torch.device) -> torch.Tensor:
    return aten.arange.start_step(0, n, 1, dtype=torch.int64, device=device)


def _adaptive(size: int, out: int, device: torch.device) -> tuple[torch.Tensor, torch.Tensor]:
    """First and one past the last element of each window."""
    steps = _range(out, device)
    return (steps * size) // out, ((steps + 1) * size + out - 1) // out


class _Reach:
    """The elements that windows along one dimension reach: ``place`` (out, widest), ``inside`` tells which are any.

    Windows are read element by element, not as products with a matrix of zeros and ones: zero times NaN is NaN.
    """

    def __init__(self, start: torch.Tensor, end: torch.Tensor, widest: int, size: int) -> None:
        place = start[:, None] + _range(widest, start.device)
        self.inside = (place >= 0) & (place < end.clamp(max=size)[:, None])
        self.place = place.clamp(0, max(size - 1, 0))

    def sums(self, x: torch.Tensor, dim: int) -> torch.Tensor:
        """x summed over each window along ``dim``."""
        windows = x.index_select(dim, self.place.reshape(-1)).unflatten(dim, tuple(self.place.shape))
        return torch.where(self._along(x, dim), windows, 0).sum(dim + 1, dtype=x.dtype)

    def spread(self, grad: torch.Tensor, dim: int, size: int) -> torch.Tensor:
        """The transposed: what stands for a window added to all of its elements."""
        each = torch.where(self._along(grad, dim), grad.unsqueeze(dim + 1), 0).flatten(dim, dim + 1)
        result = torch.zeros((*grad.shape[:dim], size, *grad.shape[dim + 1 :]), dtype=grad.dtype, device=grad.device)
        return result.index_add(dim, self.place.reshape(-1), each)

    def _along(self, x: torch.Tensor, dim: int) -> torch.Tensor:
        return self.inside.reshape(*self.inside.shape, *(1,) * (x.dim() - 1 - dim))


def _adaptive_windows(x: torch.Tensor, sizes: Sequence[int], out: Sequence[int]) -> list[tuple[_Reach, torch.Tensor]]:
    """Per dimension the windows and how many elements each has, (out, 1, ...) against the last three dimensions."""
    windows = []
    for i, (size, n) in enumerate(zip(sizes, out, strict=True)):
        start, end = _adaptive(size, n, x.device)
        widest = max((((k + 1) * size + n - 1) // n - k * size // n for k in range(n)), default=0)
        counts = (end - start).reshape(n, *(1,) * (len(sizes) - 1 - i))
        windows.append((_Reach(start, end, widest, size), counts.to(x.dtype)))
    return windows


def adaptive_avg_pool3d(x: torch.Tensor, output_size: Sequence[int]) -> torch.Tensor:
    """``aten::_adaptive_avg_pool3d``."""
    for i, (reach, counts) in enumerate(_adaptive_windows(x, x.shape[-3:], output_size)):
        x = reach.sums(x, x.dim() - 3 + i) / counts
    return x


def adaptive_avg_pool3d_backward(grad: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    """``aten::_adaptive_avg_pool3d_backward``."""
    for i, (reach, counts) in enumerate(_adaptive_windows(x, x.shape[-3:], grad.shape[-3:])):
        grad = reach.spread(grad / counts, grad.dim() - 3 + i, x.shape[x.dim() - 3 + i])
    return grad


class _Windows:
    """Fixed windows over the last three dimensions: what they reach, and the divisor of each average."""

    def __init__(
        self, x: torch.Tensor, out: Sequence[int], kernel: Any, stride: Any, padding: Any, whole: bool
    ) -> None:
        kernel, padding = _triple(kernel), _triple(padding)
        stride = _triple(stride or kernel)
        self.reaches, counts = [], []
        for i, size in enumerate(x.shape[-3:]):
            start = _range(out[i], x.device) * stride[i] - padding[i]
            end = (start + kernel[i]).clamp(max=size + padding[i])
            self.reaches.append(_Reach(start, end, kernel[i], size))
            counts.append(end - start if whole else end.clamp(max=size) - start.clamp(min=0))
        self.divisor = counts[0][:, None, None] * counts[1][:, None] * counts[2]


def _triple(values: Any) -> list[int]:
    values = list(values)
    return values * 3 if len(values) == 1 else values


def _extent(size: int, kernel: int, stride: int, padding: int, ceil: bool) -> int:
    over = size + 2 * padding - kernel
    n = (over + stride - 1 if ceil else over) // stride + 1
    return n - 1 if ceil and (n - 1) * stride >= size + padding else n


def avg_pool3d(
    x: torch.Tensor, kernel: Any, stride: Any = (), padding: Any = 0, ceil: bool = False, whole: bool = True,
    divisor: int | None = None,
) -> torch.Tensor:  # fmt: skip
    """``aten::avg_pool3d``; of integers, rounded towards zero."""
    padding = (padding,) if isinstance(padding, int) else padding
    rows = zip(x.shape[-3:], _triple(kernel), _triple(stride or kernel), _triple(padding), strict=True)
    windows = _Windows(x, [_extent(*row, ceil) for row in rows], kernel, stride, padding, whole)
    for i, reach in enumerate(windows.reaches):
        x = reach.sums(x, x.dim() - 3 + i)
    by = windows.divisor.to(x.dtype) if divisor is None else divisor
    return x / by if x.is_floating_point() else torch.div(x, by, rounding_mode="trunc")


def avg_pool3d_backward(
    grad: torch.Tensor, x: torch.Tensor, kernel: Any, stride: Any, padding: Any, ceil: bool, whole: bool,  # noqa: ARG001
    divisor: int | None,
) -> torch.Tensor:  # fmt: skip
    """``aten::avg_pool3d_backward``."""
    windows = _Windows(x, grad.shape[-3:], kernel, stride, padding, whole)
    grad = grad / (windows.divisor.to(grad.dtype) if divisor is None else divisor)
    for i, reach in enumerate(windows.reaches):
        grad = reach.spread(grad, grad.dim() - 3 + i, x.shape[x.dim() - 3 + i])
    return grad


def _maxima(x: torch.Tensor, places: Sequence[torch.Tensor]) -> tuple[torch.Tensor, torch.Tensor]:
    """Maxima over windows of the last dimensions, and where they lie, flat over those dimensions. ``places``: for each
    dimension the positions (out, window) that each window reads."""
    n = len(places)
    lead, sizes = x.dim() - n, x.shape[x.dim() - n :]
    flat = torch.zeros((1,) * (2 * n), dtype=torch.int64, device=x.device)
    for i, place in enumerate(places):
        shape = [1] * (2 * n)
        shape[i], shape[n + i] = place.shape
        flat = flat + place.reshape(shape) * prod(sizes[i + 1 :])
    out = flat.shape[:n]
    flat = flat.reshape(prod(out), -1)
    windows = x.reshape(*x.shape[:lead], -1)[..., flat]
    values, which = windows.max(-1)
    # Of several NaN the CPU takes the last, of other equals the first.
    unordered = torch.where(windows.isnan(), _range(windows.shape[-1], x.device), -1).amax(-1)
    which = torch.where(unordered < 0, which, unordered)
    where = flat.expand(windows.shape).gather(-1, which.unsqueeze(-1)).squeeze(-1)
    return values.reshape(*x.shape[:lead], *out), where.reshape(*x.shape[:lead], *out)


def _adaptive_max(n: int) -> Callable[..., Any]:
    def forward(x: torch.Tensor, output_size: Sequence[int]) -> tuple[torch.Tensor, torch.Tensor]:
        places = []
        for size, out in zip(x.shape[-n:], output_size, strict=True):
            start, end = _adaptive(size, out, x.device)
            # A window that ends early reads its last element again, which changes no maximum.
            reach = -(-size // out) + 1 if size % out else size // out
            places.append(torch.minimum(start[:, None] + _range(reach, x.device), end[:, None] - 1))
        return _maxima(x, places)

    return forward


def _fractional_max(n: int) -> Callable[..., Any]:
    def forward(
        x: torch.Tensor, kernel: Sequence[int], output_size: Sequence[int], samples: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        planes = x.reshape(-1, *x.shape[-n:])
        # In two dimensions the first sample is that of the last dimension.
        order = reversed(range(n)) if n == 2 else range(n)
        draws = [samples.reshape(-1, n)[:, i] for i in order]
        flat = torch.zeros((planes.shape[0],) + (1,) * (2 * n), dtype=torch.int64, device=x.device)
        for i, draw in enumerate(draws):
            place = _intervals(draw, x.shape[x.dim() - n + i], output_size[i], kernel[i])
            shape = [planes.shape[0]] + [1] * (2 * n)
            shape[1 + i], shape[1 + n + i] = place.shape[1:]
            flat = flat * planes.shape[1 + i] + place.reshape(shape)
        flat = flat.reshape(planes.shape[0], prod(output_size), -1)
        windows = planes.reshape(planes.shape[0], 1, -1).expand(-1, flat.shape[1], -1).gather(2, flat)
        values, which = windows.max(-1, keepdim=True)
        shape = (*x.shape[:-n], *output_size)
        return values.reshape(shape), flat.gather(2, which).reshape(shape)

    return forward


def _intervals(draw: torch.Tensor, size: int, out: int, kernel: int) -> torch.Tensor:
    """Positions (planes, out, kernel) of the windows along a dimension, spaced by pseudo-random steps."""
    steps = _range(out, draw.device)
    last = torch.full((1, 1), size - kernel, dtype=torch.int64, device=draw.device)
    if out == 1:
        starts = last.expand(draw.shape[0], 1)
    else:
        alpha = torch.full((), size - kernel, dtype=draw.dtype, device=draw.device) / (out - 1)
        moved = ((steps.to(draw.dtype) + draw[:, None]) * alpha).to(torch.int64)
        moved = moved - (draw[:, None] * alpha).to(torch.int64)
        starts = torch.where(steps == out - 1, last, moved)
    return starts[:, :, None] + _range(kernel, draw.device)


def _max_backward(n: int) -> Callable[..., Any]:
    def backward(grad: torch.Tensor, x: torch.Tensor, *rest: Any) -> torch.Tensor:
        indices = next(r for r in reversed(rest) if isinstance(r, torch.Tensor))
        lead = x.shape[: x.dim() - n]
        flat = torch.zeros((*lead, prod(x.shape[-n:])), dtype=grad.dtype, device=grad.device)
        last = len(lead)
        summed = flat.scatter_add(last, indices.reshape(*lead, -1), grad.reshape(*lead, -1))
        return summed.reshape(x.shape)

    return backward


POOLING: dict[str, Callable[..., Any]] = {
    "_adaptive_avg_pool3d": adaptive_avg_pool3d,
    "_adaptive_avg_pool3d_backward": adaptive_avg_pool3d_backward,
    "avg_pool3d": avg_pool3d,
    "avg_pool3d_backward": avg_pool3d_backward,
    "adaptive_max_pool2d": _adaptive_max(2),
    "adaptive_max_pool3d": _adaptive_max(3),
    "fractional_max_pool2d": _fractional_max(2),
    "fractional_max_pool3d": _fractional_max(3),
    "adaptive_max_pool2d_backward": _max_backward(2),
    "adaptive_max_pool3d_backward": _max_backward(3),
    "fractional_max_pool2d_backward": _max_backward(2),
    "fractional_max_pool3d_backward": _max_backward(3),
    "max_pool2d_with_indices_backward": _max_backward(2),
    "max_pool3d_with_indices_backward": _max_backward(3),
}
