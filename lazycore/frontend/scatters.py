"""A tensor with a window of it replaced: a clone, written through a view."""

from __future__ import annotations

from typing import Any

import torch

from lazycore.frontend.assign import clone
from lazycore.frontend.at_once import eager_kernel
from lazycore.frontend.schema import info_of
from lazycore.frontend.storage import state_of, whole

__all__ = ["SCATTERS"]

aten = torch.ops.aten


def diagonal_scatter(x: torch.Tensor, src: torch.Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> torch.Tensor:
    """``aten::diagonal_scatter``."""
    result = clone(x)
    return _written_through(result, aten.diagonal.default(result, offset, dim1, dim2), src)


def as_strided_scatter(
    x: torch.Tensor, src: torch.Tensor, size: Any, stride: Any, storage_offset: int | None = None
) -> torch.Tensor:
    """``aten::as_strided_scatter``; the window may lie outside x, in what else its storage holds."""
    if not whole(x, state_of(x)):
        eager = eager_kernel(info_of(aten.as_strided_scatter.default))
        return eager(x, src, size, stride, storage_offset)  # type: ignore[no-any-return]
    result = clone(x)
    return _written_through(result, aten.as_strided.default(result, size, stride, storage_offset), src)


def _written_through(result: torch.Tensor, window: torch.Tensor, src: torch.Tensor) -> torch.Tensor:
    torch._check(
        window.shape == src.shape,
        lambda: (
            f"expected src to have a size equal to the slice of self. src size = {list(src.shape)}, "
            f"slice size = {list(window.shape)}"
        ),
    )
    aten.copy_.default(window, src)
    return result


SCATTERS = {"as_strided_scatter": as_strided_scatter, "diagonal_scatter": diagonal_scatter}
