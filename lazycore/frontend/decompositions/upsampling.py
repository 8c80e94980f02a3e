"""Linear resampling along one dimension after the other, by weights as the CPU's: what is infinite stays infinite."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch

__all__ = ["UPSAMPLING", "linear"]


def linear(x: torch.Tensor, output_size: Sequence[int], align_corners: bool, *scales: float | None) -> torch.Tensor:
    """``aten::upsample_linear1d``, ``aten::upsample_trilinear3d``: x (N, C, *sizes) -> (N, C, *output_size)."""
    wide = torch.float32 if x.dtype in (torch.float16, torch.bfloat16) else x.dtype
    out = x.to(wide)
    # The innermost first, as the CPU's kernel nests them.
    for i in reversed(range(len(output_size))):
        scale = scales[i] if i < len(scales) else None
        out = _along(out, 2 + i, output_size[i], align_corners, scale)
    return out.to(x.dtype)


def _along(x: torch.Tensor, dim: int, out: int, align: bool, scale: float | None) -> torch.Tensor:
    size = x.shape[dim]
    if out == size:
        return x  # whatever the scale says, as on the CPU
    place = torch.ops.aten.arange.start_step(0, out, 1, dtype=x.dtype, device=x.device)
    if align:
        place = place * ((size - 1) / (out - 1) if out > 1 else 0.0)
    else:
        ratio = 1 / scale if scale is not None and scale > 0 else size / out
        place = ((place + 0.5) * ratio - 0.5).clamp(min=0)
    low = place.to(torch.int64).clamp(max=size - 1)
    weight = (place - low).clamp(0, 1).reshape(-1, *(1,) * (x.dim() - 1 - dim))
    below, above = x.index_select(dim, low), x.index_select(dim, (low + 1).clamp(max=size - 1))
    return below * (1 - weight) + above * weight


UPSAMPLING: dict[str, Callable[..., torch.Tensor]] = {"upsample_linear1d": linear, "upsample_trilinear3d": linear}
