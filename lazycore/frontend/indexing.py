"""Indexing: index tensors may live on the CPU; masks become a select where they can, and run on values where not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from lazycore.frontend.at_once import eager_kernel
from lazycore.frontend.codegen import functional_kernel, inplace_kernel
from lazycore.frontend.copies import fresh_from_host
from lazycore.frontend.schema import info_of
from lazycore.frontend.storage import NAME, is_ours

__all__ = ["INDEXING"]

aten = torch.ops.aten


def _is_mask(index: torch.Tensor | None) -> bool:
    return index is not None and index.dtype in (torch.bool, torch.uint8)


def _placed(x: torch.Tensor, indices: Any) -> list[torch.Tensor | None]:
    """The indices on the device. Raises RuntimeError where the indexed tensor itself is on the CPU."""
    if not is_ours(x):
        raise RuntimeError(f"indices should be either on cpu or on the same device as the indexed tensor ({x.device})")
    return [i if i is None or is_ours(i) else fresh_from_host(i) for i in indices]


def _single_mask(x: torch.Tensor, indices: list[torch.Tensor | None]) -> torch.Tensor | None:
    """The mask that selects whole elements or leading rows, broadcastable to x; None for any other indexing."""
    if len(indices) != 1 or not _is_mask(indices[0]):
        return None
    mask = indices[0]
    assert mask is not None
    if mask.shape != x.shape[: mask.dim()]:
        return None  # torch's own error comes from running it
    return aten.ne.Scalar(mask, 0).reshape(mask.shape + (1,) * (x.dim() - mask.dim()))


def _for_each(x: torch.Tensor, mask: torch.Tensor | None, values: torch.Tensor) -> torch.Tensor | None:
    """What every masked place of x gets, in a shape that broadcasts to x; None where places get values of their own, or
    torch has an error to raise."""
    assert mask is not None
    rest = x.shape[mask.dim() :]
    if values.dim() == len(rest) + 1 and values.shape[0] == 1:
        values = values.reshape(values.shape[1:])
    pairs = zip(reversed(values.shape), reversed(rest), strict=False)
    fits = values.dim() <= len(rest) and all(size in (1, whole) for size, whole in pairs)
    near = is_ours(values) or values.numel() == 1
    return values if fits and near and values.dtype == x.dtype else None


def _index(op: Any) -> Callable[..., torch.Tensor]:
    info = info_of(op)
    recorded, eager = functional_kernel(info), eager_kernel(info)

    def kernel(x: torch.Tensor, indices: Any) -> torch.Tensor:
        placed = _placed(x, indices)
        return eager(x, placed) if any(map(_is_mask, placed)) else recorded(x, placed)

    return kernel


def _index_put(op: Any, recorded: Callable[..., Any]) -> Callable[..., torch.Tensor]:
    eager = eager_kernel(info_of(op))

    def kernel(
        x: torch.Tensor, indices: Any, values: torch.Tensor, accumulate: bool = False, _unsafe: bool = False
    ) -> torch.Tensor:
        placed = _placed(x, indices)
        if not any(map(_is_mask, placed)):
            return recorded(x, placed, values, accumulate)
        mask = _single_mask(x, placed)
        value = None if mask is None or accumulate else _for_each(x, placed[0], values)
        if value is None:
            return eager(x, placed, values, accumulate)
        chosen = aten.where.self(mask, value if is_ours(value) else value.to(NAME), x)
        return aten.copy_.default(x, chosen) if op._schema.is_mutable else chosen

    return kernel


def _table() -> dict[str, Callable[..., Any]]:
    functional = functional_kernel(info_of(aten.index_put.default))
    in_place = inplace_kernel(info_of(aten.index_put_.default))
    return {
        "index.Tensor": _index(aten.index.Tensor),
        "_unsafe_index.Tensor": _index(aten.index.Tensor),
        "index_put": _index_put(aten.index_put.default, functional),
        "_unsafe_index_put": _index_put(aten.index_put.default, functional),
        "index_put_": _index_put(aten.index_put_.default, in_place),
        "_index_put_impl_": _index_put(aten.index_put_.default, in_place),
    }


INDEXING = _table
"""Builds the table on first use: it writes kernels, which importing the package must not."""
