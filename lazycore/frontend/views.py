"""Views: torch's own C++ kernels make them; we only note that a storage has one."""

from __future__ import annotations

from operator import mul
from typing import Any

import torch

from lazycore.frontend.copies import to_cpu
from lazycore.frontend.dtypes import array_of
from lazycore.frontend.storage import META, SET, flat_layout, is_ours, layout_for, state_of, strided
from lazycore.runtime.buffers import DeviceValue
from lazycore.trace.layout import contiguous_stride
from lazycore.trace.state import StorageState

__all__ = ["VIEWS"]

aten = torch.ops.aten

_redispatch_strided = aten.as_strided.default._handle.redispatch_boxed


def _marking(op: Any) -> Any:
    redispatch = op._handle.redispatch_boxed

    # None of these has an argument by keyword only, and the dispatcher passes all others by position.
    def view(x: torch.Tensor, *args: Any) -> torch.Tensor:
        state = x.untyped_storage().state
        if not state.viewed:
            state.mark_viewed()
        return redispatch(META, x, *args)

    return view


def as_strided(x: torch.Tensor, size: Any, stride: Any, storage_offset: int | None = None) -> torch.Tensor:
    """``aten::as_strided``; Meta does not look at bounds, so we do. Nearly every view ends here, and a sum tells
    whether it is worth a closer look."""
    state = x.untyped_storage().state
    offset = x.storage_offset() if storage_offset is None else storage_offset
    if (offset + 1 + sum(map(mul, size, stride)) - sum(stride)) * x.element_size() > state.layout.nbytes:
        _check_bounds(x, size, stride, offset)
    if not state.viewed:
        state.mark_viewed()
    return _redispatch_strided(META, x, size, stride, storage_offset)


def _check_bounds(x: torch.Tensor, size: Any, stride: Any, offset: int) -> None:
    last = offset + 1
    for extent, step in zip(size, stride, strict=False):
        if extent == 0:
            return
        last += (extent - 1) * step
    have = x.untyped_storage().state.layout.nbytes
    need = last * x.element_size()
    if need > have:
        raise RuntimeError(
            f"setStorage: sizes {list(size)}, strides {list(stride)}, storage offset {offset}, and itemsize "
            f"{x.element_size()} requiring a storage size of {need} are out of bounds for storage of size {have}"
        )


def as_strided_(x: torch.Tensor, size: Any, stride: Any, storage_offset: int | None = None) -> torch.Tensor:
    """``aten::as_strided_``, which every in-place view (``t_``, ``squeeze_``, …) ends in."""
    offset = x.storage_offset() if storage_offset is None else storage_offset
    _check_bounds(x, size, stride, offset)
    return _set(x, x.untyped_storage(), offset, size, stride)


def _set(x: torch.Tensor, storage: Any, offset: int, size: Any, stride: Any) -> torch.Tensor:
    storage.state.mark_viewed()
    return SET.redispatch(META, x, storage, offset, tuple(size), tuple(stride))


def set_source(x: torch.Tensor, source: Any, offset: int, size: Any, stride: Any = ()) -> torch.Tensor:
    """``aten::set_.source_Storage_storage_offset``."""
    size = tuple(size)
    stride = tuple(stride) or contiguous_stride(size)
    like = torch.empty_strided(size, stride, dtype=x.dtype, device="meta")
    need = (offset * like.element_size() + like.untyped_storage().nbytes()) if like.numel() else 0
    if need > source.state.layout.nbytes:
        grow(source.state, need)
    return _set(x, source, offset, size, stride)


def set_storage(x: torch.Tensor, source: Any) -> torch.Tensor:
    """``aten::set_.source_Storage``: all of it, as one dimension."""
    return _set(x, source, 0, (source.state.layout.nbytes // x.element_size(),), (1,))


def set_tensor(x: torch.Tensor, source: torch.Tensor) -> torch.Tensor:
    """``aten::set_.source_Tensor``."""
    return _set(x, source.untyped_storage(), source.storage_offset(), source.size(), source.stride())


def set_empty(x: torch.Tensor) -> torch.Tensor:
    """``aten::set_``: a storage without elements."""
    fresh = strided((0,), (1,), x.dtype)
    state = fresh.untyped_storage().state = StorageState()
    state.layout = flat_layout(0, x.dtype)
    return _set(x, fresh.untyped_storage(), 0, (0,), (1,))


def resize_(x: torch.Tensor, size: Any, memory_format: torch.memory_format | None = None) -> torch.Tensor:
    """``aten::resize_``: another geometry on the same storage, which grows if need be and never shrinks."""
    size = tuple(size)
    if tuple(x.shape) == size and memory_format in (None, torch.preserve_format, torch.contiguous_format):
        return x
    stride = contiguous_stride(size)
    if memory_format not in (None, torch.contiguous_format):
        stride = torch.empty(size, device="meta", memory_format=memory_format).stride()
    return set_source(x, x.untyped_storage(), x.storage_offset(), size, stride)


def grow(state: StorageState, nbytes: int) -> None:
    """Make a storage larger, its content kept in memory order and zeros behind it."""
    layout = state.layout
    numel = -(-nbytes // layout.dtype.itemsize)
    if layout.numel and (state.trace is not None or state.value is not None):
        base = strided(layout.size, layout.stride, layout.native)
        base.untyped_storage().state = state
        old = to_cpu(base)
        flat = torch.zeros(numel, dtype=layout.native, device="cpu")
        flat[: layout.numel] = old.as_strided((layout.numel,), (1,))
        state.settle(DeviceValue.from_host(array_of(flat)))
    else:
        state.settle(None)
    state.layout = layout_for((numel,), (1,), layout.native)
    state.mark_viewed()


def view_dtype(x: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """``aten::view.dtype``: the same bytes as other elements."""
    size = torch.empty_strided(x.size(), x.stride(), dtype=x.dtype, device="meta").view(dtype)
    offset = x.storage_offset() * x.element_size()
    storage = x.untyped_storage()
    storage.state.mark_viewed()
    if offset % size.element_size():
        raise RuntimeError(
            f"self.storage_offset() must be divisible by {size.element_size()} to view {x.dtype} as {dtype}"
        )
    empty = torch._C._acc.create_empty_tensor((0,), dtype)
    return SET.redispatch(META, empty, storage, offset // size.element_size(), tuple(size.shape), size.stride())


def is_set_to(x: torch.Tensor, other: torch.Tensor) -> bool:
    """``aten::is_set_to``."""
    return (
        is_ours(other)
        and state_of(x) is state_of(other)
        and x.storage_offset() == other.storage_offset()
        and x.shape == other.shape
        and x.stride() == other.stride()
    )


VIEWS = {
    "as_strided": as_strided,
    "as_strided_": as_strided_,
    # torch's own kernels of these two are written in Python, and end in the same.
    "_reshape_alias": as_strided,
    "_unsafe_view": _marking(aten.view.default),
    "view": _marking(aten.view.default),
    "unfold": _marking(aten.unfold.default),
    "view_as_real": _marking(aten.view_as_real.default),
    "view_as_complex": _marking(aten.view_as_complex.default),
    # These change no geometry, but the bits they set must be looked at too.
    "_conj": _marking(aten._conj.default),
    "_neg_view": _marking(aten._neg_view.default),
    "view.dtype": view_dtype,
    "set_.source_Storage_storage_offset": set_source,
    "set_.source_Storage": set_storage,
    "set_.source_Tensor": set_tensor,
    "set_": set_empty,
    "resize_": resize_,
    "is_set_to": is_set_to,
}
