"""Kernels that are written by hand, by overload name."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import torch

from lazycore.frontend import assign, copies
from lazycore.frontend.alignment import ctc_loss, ctc_loss_backward
from lazycore.frontend.attention import ATTENTION, safe_softmax
from lazycore.frontend.autocast.scaling import SCALING
from lazycore.frontend.cells import CELLS
from lazycore.frontend.compound import compound_kernel
from lazycore.frontend.dense import DENSE
from lazycore.frontend.domains import DOMAINS
from lazycore.frontend.encoder import ENCODER
from lazycore.frontend.factories import FACTORIES
from lazycore.frontend.fused import FUSED
from lazycore.frontend.indexing import INDEXING
from lazycore.frontend.joining import cat
from lazycore.frontend.kernels import recorded
from lazycore.frontend.linalg import LINALG
from lazycore.frontend.masked_scatter import masked_scatter, masked_scatter_
from lazycore.frontend.normalization import batch_norm_with_update, native_batch_norm
from lazycore.frontend.patches.encoders import nest
from lazycore.frontend.promoting import PROMOTING
from lazycore.frontend.randomness.table import random_kernels
from lazycore.frontend.rolling import roll
from lazycore.frontend.scatters import SCATTERS
from lazycore.frontend.schema import overload
from lazycore.frontend.storage import is_ours
from lazycore.frontend.stricter import check_number
from lazycore.frontend.views import VIEWS

__all__ = ["special"]

_COMPOUND = {**ATTENTION, **CELLS, **DENSE, **ENCODER}
"""Recorded as one; see ``compound``."""


def special(short: str) -> Callable[..., Any] | None:
    """The hand-written kernel of an overload (``add_.Tensor``), or None."""
    composition = _COMPOUND.get(short)
    if composition is not None:
        return compound_kernel(overload(f"aten::{short}"), composition)
    return _table().get(short)


def equal(a: torch.Tensor, b: torch.Tensor) -> bool:
    """``aten::equal``."""
    if a.device != b.device:
        raise RuntimeError(
            f"Expected all tensors to be on the same device, but found at least two devices, {a.device} and {b.device}!"
        )
    return torch.equal(copies.to_cpu(a), copies.to_cpu(b))


def fill_number(x: torch.Tensor, value: Any) -> torch.Tensor:
    """``aten::fill_.Scalar``."""
    check_number(value, x.dtype, x.numel())
    return assign.fill(x, value)


def fill_tensor(x: torch.Tensor, value: torch.Tensor) -> torch.Tensor:
    """``aten::fill_.Tensor``."""
    if value.dim() != 0:
        raise RuntimeError(
            f"fill_ only supports 0-dimension value tensor but got tensor with {value.dim()} dimensions."
        )
    return torch.ops.aten.copy_.default(x, value)


def sort(x: torch.Tensor, dim: int = -1, descending: bool = False) -> tuple[torch.Tensor, torch.Tensor]:
    """``aten::sort``: the stable one is as good, and one op less for backends to know."""
    return torch.ops.aten.sort.stable(x, stable=False, dim=dim, descending=descending)


def histc(x: torch.Tensor, bins: int = 100, min: Any = 0, max: Any = 0) -> torch.Tensor:
    """``aten::histc``. Library code that tells devices apart counts integers on any but the CPU, which takes floats."""
    kernel = recorded(torch.ops.aten.histc.default)
    if x.dtype.is_floating_point:
        return kernel(x, bins, min, max)  # type: ignore[no-any-return]
    if x.dtype is torch.bool or x.is_complex():
        torch.histc(torch.zeros(1, dtype=x.dtype, device="cpu"))  # raises
    return kernel(x.to(torch.float64), bins, min, max).to(x.dtype)  # type: ignore[no-any-return]


def zero(x: torch.Tensor) -> torch.Tensor:
    """``aten::zero_``."""
    return assign.fill(x, 0)


def pack_padded_sequence(
    x: torch.Tensor, lengths: torch.Tensor, batch_first: bool
) -> tuple[torch.Tensor, torch.Tensor]:
    """``aten::_pack_padded_sequence``: the batch sizes stay on the CPU, as torch's own devices keep them. The lengths
    are known there, so that nothing waits for the steps: these are gathered."""
    if not x.numel():
        torch._pack_padded_sequence(torch.zeros(x.shape, device="cpu"), lengths, batch_first)  # raises
    places = torch.arange(x.shape[:2].numel(), device="cpu").reshape(x.shape[:2])
    order, sizes = torch._pack_padded_sequence(places, lengths, batch_first)
    return x.flatten(0, 1).index_select(0, copies.fresh_from_host(order)), sizes


def left_aligned(batch: torch.Tensor, mask: torch.Tensor) -> bool:
    """``aten::_nested_tensor_from_mask_left_aligned``: looks at the mask."""
    empty = torch.zeros((), dtype=batch.dtype, device="cpu").expand(batch.shape)
    return torch._nested_tensor_from_mask_left_aligned(empty, copies.to_cpu(mask))


def is_pinned(x: torch.Tensor, device: Any = None) -> bool:  # noqa: ARG001
    """``aten::is_pinned``."""
    return False


def record_stream(x: torch.Tensor, stream: Any) -> None:
    """``aten::record_stream``: memory is freed with its last reference, whatever the stream."""


def lift_scalar(x: torch.Tensor) -> Any:
    """``aten::_local_scalar_dense``."""
    if not is_ours(x):
        raise RuntimeError(f"expected a lazycore tensor, not one on {x.device}")
    return copies.local_scalar_dense(x)


@cache
def _table() -> dict[str, Callable[..., Any]]:
    return {
        **VIEWS,
        **FACTORIES,
        **random_kernels(),
        **SCALING,
        **FUSED,
        **INDEXING(),
        **SCATTERS,
        **LINALG,
        **DOMAINS,
        "_local_scalar_dense": lift_scalar,
        "_to_copy": copies.to_copy,
        "clone": lambda x, *, memory_format=None: assign.clone(x, memory_format),
        "copy_": copies.copy_into,
        "_copy_from": copies.copy_from,
        "_copy_from_and_resize": copies.copy_from,
        "equal": equal,
        "_is_all_true": torch.ops.aten.all.default,
        "_is_any_true": torch.ops.aten.any.default,
        "fill_.Scalar": fill_number,
        "fill_.Tensor": fill_tensor,
        "zero_": zero,
        "sort": sort,
        "native_batch_norm": native_batch_norm,
        "_native_batch_norm_legit": native_batch_norm,
        "_batch_norm_with_update": batch_norm_with_update,
        "_safe_softmax": safe_softmax,
        "_nested_tensor_from_mask": nest,
        "_nested_tensor_from_mask_left_aligned": left_aligned,
        "_pack_padded_sequence": pack_padded_sequence,
        "histc": histc,
        "cat": cat,
        "_ctc_loss": ctc_loss,
        "_ctc_loss_backward": ctc_loss_backward,
        "roll": roll,
        **PROMOTING,
        "is_pinned": is_pinned,
        "masked_scatter": masked_scatter,
        "masked_scatter_": masked_scatter_,
        "record_stream": record_stream,
    }
