"""Views and shape changes that torch makes by stride alone, as slices and gathers; likes and splits."""

from __future__ import annotations

from typing import Any

import torch

__all__ = ["SHAPES"]

aten = torch.ops.aten


def split_with_sizes(x: torch.Tensor, sizes: Any, dim: int = 0) -> list[torch.Tensor]:
    """``aten::split_with_sizes``."""
    parts, start = [], 0
    for size in sizes:
        parts.append(aten.slice.Tensor(x, dim, start, start + size))
        start += size
    return parts


def split(x: torch.Tensor, size: int, dim: int = 0) -> list[torch.Tensor]:
    """``aten::split.Tensor``."""
    extent = x.shape[dim]
    if size == 0:
        return [aten.alias.default(x)]
    return [aten.slice.Tensor(x, dim, start, min(start + size, extent)) for start in range(0, max(extent, 1), size)]


def unbind(x: torch.Tensor, dim: int = 0) -> list[torch.Tensor]:
    """``aten::unbind.int``."""
    return [aten.select.int(x, dim, i) for i in range(x.shape[dim])]


def unfold(x: torch.Tensor, dim: int, size: int, step: int) -> torch.Tensor:
    """``aten::unfold``: windows along a dimension, whose inside becomes the last one."""
    if x.dim() == 0:
        return x.reshape(1)[:size]
    dim %= x.dim()
    count = (x.shape[dim] - size) // step + 1
    starts = aten.arange.start_step(0, count * step, step, dtype=torch.int64, device=x.device)
    inside = aten.arange.start_step(0, size, 1, dtype=torch.int64, device=x.device)
    places = (starts[:, None] + inside).reshape(-1)
    windows = x.index_select(dim, places).reshape(*x.shape[:dim], count, size, *x.shape[dim + 1 :])
    return windows.movedim(dim + 1, -1)


def as_strided(x: torch.Tensor, size: Any, stride: Any, storage_offset: int | None = None) -> torch.Tensor:
    """``aten::as_strided`` of a dense row-major tensor."""
    places = torch.full((1,) * len(size), storage_offset or 0, dtype=torch.int64, device=x.device)
    for dim, (extent, step) in enumerate(zip(size, stride, strict=True)):
        along = torch.ops.aten.arange.start_step(0, extent, 1, dtype=torch.int64, device=x.device) * step
        places = places + along.reshape(-1, *(1,) * (len(size) - 1 - dim))
    return aten.take.default(x, places)


def _full(size: Any, number: Any, dtype: torch.dtype, device: torch.device) -> torch.Tensor:
    return aten.full.default(tuple(size), number, dtype=dtype, device=device)


def full_like(x: torch.Tensor, number: Any, *, dtype: Any = None, **_: Any) -> torch.Tensor:
    """``aten::full_like``."""
    return _full(x.shape, number, dtype or x.dtype, x.device)


def new_full(x: torch.Tensor, size: Any, number: Any, *, dtype: Any = None, **_: Any) -> torch.Tensor:
    """``aten::new_full``."""
    return _full(size, number, dtype or x.dtype, x.device)


def zeros(size: Any, *, dtype: Any = None, **_: Any) -> torch.Tensor:
    """``aten::zeros``."""
    return _full(size, 0, dtype or torch.get_default_dtype(), torch.device("meta"))


def ones(size: Any, *, dtype: Any = None, **_: Any) -> torch.Tensor:
    """``aten::ones``."""
    return _full(size, 1, dtype or torch.get_default_dtype(), torch.device("meta"))


def sort(x: torch.Tensor, dim: int = -1, descending: bool = False) -> tuple[torch.Tensor, torch.Tensor]:
    """``aten::sort``."""
    return aten.sort.stable(x, stable=False, dim=dim, descending=descending)


SHAPES = {
    "split_with_sizes": split_with_sizes,
    "split.Tensor": split,
    "unbind.int": unbind,
    "unfold": unfold,
    "as_strided": as_strided,
    "full_like": full_like,
    "zeros_like": lambda x, **options: full_like(x, 0, **options),
    "ones_like": lambda x, **options: full_like(x, 1, **options),
    "new_full": new_full,
    "new_zeros": lambda x, size, **options: new_full(x, size, 0, **options),
    "new_ones": lambda x, size, **options: new_full(x, size, 1, **options),
    "zeros": zeros,
    "ones": ones,
    # What nobody has written yet may hold anything.
    "empty.memory_format": zeros,
    "new_empty": lambda x, size, **options: new_full(x, size, 0, **options),
    "empty_like": lambda x, **options: full_like(x, 0, **options),
    "sort": sort,
}
