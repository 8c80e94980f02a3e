"""Tensors and their storages' states: making them, reading them, telling a view from the whole."""

from __future__ import annotations

from typing import Any
from weakref import ref

import torch
from lazycore_plugin_api import LazycoreError

from lazycore.frontend.dtypes import TO_IR
from lazycore.trace.layout import Layout, contiguous_stride, layout_of
from lazycore.trace.recorder import Trace
from lazycore.trace.state import StorageState

__all__ = [
    "META", "NAME", "SET", "adopt", "check_device", "empty_tensor", "flat_layout", "is_ours", "layout_for", "pending",
    "state_of", "strided", "whole",
]  # fmt: skip

NAME = "lazycore"
META = torch._C.DispatchKeySet(torch._C.DispatchKey.Meta)
SET = torch.ops.aten.set_.source_Storage_storage_offset
_create = torch._C._acc.create_empty_tensor


def is_ours(x: Any) -> bool:
    """Whether x is a tensor on the lazycore device."""
    return isinstance(x, torch.Tensor) and x.device.type == NAME


def check_device(device: Any) -> None:
    """Raise RuntimeError for an index that the device does not have: there is one, ``lazycore:0``."""
    index = device if isinstance(device, int) else torch.device(device).index
    if index not in (None, 0, -1):
        raise RuntimeError(f"{NAME} has one device, {NAME}:0; there is no {NAME}:{index}")


def layout_for(size: Any, stride: Any, dtype: torch.dtype) -> Layout:
    """The Layout of a dense base. Raises NotImplementedError for a dtype that the IR lacks."""
    return layout_of(tuple(size), tuple(stride), TO_IR[dtype], dtype)


def strided(size: Any, stride: Any, dtype: torch.dtype, offset: int = 0) -> torch.Tensor:
    """A tensor of this geometry on a new storage. torch's own set_ kernel on Meta makes any stride; a plain
    ``_create`` only contiguous ones, at a sixth of the time."""
    tensor = _create((0,), dtype)
    return SET.redispatch(META, tensor, tensor.untyped_storage(), offset, tuple(size), tuple(stride))


def empty_tensor(layout: Layout) -> torch.Tensor:
    """A tensor of this layout on a new storage without state."""
    if layout.contiguous and layout.numel:  # of what is empty, _create makes other strides than torch
        return _create(layout.size, layout.native)
    return strided(layout.size, layout.stride, layout.native)


def adopt(layout: Layout, value: Any) -> torch.Tensor:
    """A new tensor that holds a materialized value."""
    tensor = empty_tensor(layout)
    state = StorageState()
    state.layout = layout
    state.value = value
    tensor.untyped_storage().state = state
    return tensor


def pending(trace: Trace, layout: Layout, index: int) -> torch.Tensor:
    """A new tensor that will hold value ``index`` of an open trace."""
    tensor = empty_tensor(layout)
    state = StorageState()
    state.fast = state.trace = trace
    state.index = index
    state.layout = layout
    tensor.untyped_storage().state = state
    trace.refs.append(ref(state))
    return tensor


def state_of(tensor: torch.Tensor) -> StorageState:
    """The state of a lazycore tensor's storage. Raises LazycoreError where something outside made the storage."""
    state = getattr(tensor.untyped_storage(), "state", None)
    if state is None:
        raise LazycoreError("this storage was not made by lazycore: build it with torch.empty(…, device='lazycore')")
    return state


def whole(tensor: torch.Tensor, state: StorageState) -> bool:
    """Whether the tensor shows exactly its storage's base."""
    if not state.viewed:
        return not tensor.is_conj() and not tensor.is_neg()
    layout = state.layout
    return (
        tensor.stride() == layout.stride
        and tensor.shape == layout.size
        and tensor.storage_offset() == 0
        and tensor.dtype is layout.native
        and not tensor.is_conj()
        and not tensor.is_neg()
    )


def flat_layout(numel: int, dtype: torch.dtype) -> Layout:
    """The layout of a one-dimensional base."""
    return layout_for((numel,), contiguous_stride((numel,)), dtype)
