"""Copies over the device's border, and between its tensors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch

from lazycore.frontend.assign import convert, copy_between
from lazycore.frontend.dtypes import TO_IR, array_of, tensor_of
from lazycore.frontend.flags import check_flags
from lazycore.frontend.local import local, tree
from lazycore.frontend.operands import materialize
from lazycore.frontend.schema import OpInfo
from lazycore.frontend.storage import NAME, adopt, check_device, is_ours, layout_for, state_of, whole
from lazycore.frontend.strides import stride_like
from lazycore.frontend.sync import barrier, observe
from lazycore.runtime.buffers import DeviceValue
from lazycore.trace.layout import contiguous_stride, is_dense

__all__ = ["fresh_from_host", "read_back", "store_from_host", "to_cpu", "to_device"]


def fresh_from_host(x: torch.Tensor) -> torch.Tensor:
    """A new device tensor with a CPU tensor's present content and, where it is dense, its strides."""
    if x.layout is not torch.strided or x.is_quantized:
        raise NotImplementedError(f"lazycore takes dense strided tensors, not {x.layout}; convert on the CPU first")
    size, stride = tuple(x.shape), x.stride()
    stride = stride if is_dense(size, stride) else contiguous_stride(size)
    return adopt(layout_for(x.shape, stride, x.dtype), DeviceValue.from_host(array_of(x)))


def to_device(x: torch.Tensor) -> torch.Tensor:
    """``x.to("lazycore")`` of a CPU tensor. Outside backward it ends a trace that has grown: programs that only ever
    feed batches would otherwise record without end."""
    trace = local.trace
    if trace.node.depth >= tree.limits.copy_ops and not trace.recorder.backward:
        barrier("a copy to the device")
    return fresh_from_host(x)


def to_cpu(x: torch.Tensor) -> torch.Tensor:
    """A CPU copy with the tensor's geometry, after running what it waits for."""
    state = state_of(x)
    if state.trace is local.trace:
        observe("a copy to the CPU")
    else:
        check_flags()
    materialize(state)
    base = tensor_of(state.value.to_host())
    layout = state.layout
    if not layout.contiguous:
        base = torch.empty_strided(layout.size, layout.stride, dtype=layout.native, device="cpu").copy_(base)
    return base if whole(x, state) else _window(base, x)


def _window(base: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    view = torch.empty(0, dtype=x.dtype, device="cpu")
    view.set_(base.untyped_storage(), x.storage_offset(), x.size(), x.stride())
    if x.is_conj():
        view = view.conj()
    if x.is_neg():
        view = torch._neg_view(view)
    kept = torch.empty_strided(x.size(), _dense_stride(x), dtype=x.dtype, device="cpu")
    return kept.copy_(view)


def _dense_stride(x: torch.Tensor) -> tuple[int, ...]:
    return stride_like(x.shape, x.stride())


def store_from_host(target: torch.Tensor, x: torch.Tensor) -> None:
    """Write a CPU tensor (broadcast and cast as ``copy_`` does) into a device tensor."""
    state = state_of(target)
    if whole(target, state):
        image = torch.empty(target.shape, dtype=target.dtype, device="cpu").copy_(x)
        state.settle(DeviceValue.from_host(array_of(image)))
        return
    torch.ops.aten.copy_.default(target, fresh_from_host(x))


def read_back(info: OpInfo, args: tuple[Any, ...], kwargs: Mapping[str, Any], back: Mapping[int, torch.Tensor]) -> None:
    """After an op ran on CPU copies: store what it mutated into the device tensors that the copies stand for."""
    for position in info.written:
        name = info.args[position].name
        copy = args[position] if position < len(args) else kwargs.get(name)
        for item in copy if isinstance(copy, (list, tuple)) else (copy,):
            if isinstance(item, torch.Tensor) and id(item) in back:
                store_from_host(back[id(item)], item)


def local_scalar_dense(x: torch.Tensor) -> bool | int | float | complex:
    """``aten::_local_scalar_dense``: the element of a one-element tensor."""
    return to_cpu(x).item()


def copy_from(src: torch.Tensor, dst: torch.Tensor, non_blocking: bool = False) -> torch.Tensor:  # noqa: ARG001
    """``aten::_copy_from``: the copy that C++ asks of a device."""
    return copy_into(dst, src)


def copy_into(dst: torch.Tensor, src: torch.Tensor, non_blocking: bool = False) -> torch.Tensor:  # noqa: ARG001
    """``aten::copy_`` where at least one side is on the device."""
    if is_ours(dst) and is_ours(src):
        return copy_between(dst, src)
    if is_ours(dst):
        if src.device.type != "cpu":
            raise NotImplementedError(f"lazycore copies from the CPU only, not from {src.device}; go through .cpu()")
        torch.empty(dst.shape, dtype=dst.dtype, device="meta").copy_(src.to("meta"))
        store_from_host(dst, src)
    else:
        dst.copy_(to_cpu(src))
    return dst


def to_copy(
    x: torch.Tensor,
    dtype: torch.dtype | None = None,
    layout: torch.layout | None = None,
    device: torch.device | None = None,
    pin_memory: bool | None = None,  # noqa: ARG001
    non_blocking: bool = False,  # noqa: ARG001
    memory_format: torch.memory_format | None = None,
) -> torch.Tensor:
    """``aten::_to_copy`` where the source or the result is on the device.

    pin_memory and non_blocking are not passed on: C++ would ask for a pinned allocator, which a device in Python
    cannot have.
    """
    target = device.type if device is not None else x.device.type
    if target == NAME and device is not None:
        check_device(device)
    options = {} if memory_format is None else {"memory_format": memory_format}
    if layout not in (None, torch.strided):
        raise NotImplementedError(f"lazycore takes strided tensors only, not {layout}; convert on the CPU first")
    if is_ours(x) and target == NAME:
        return convert(x, dtype or x.dtype, memory_format)
    if is_ours(x):
        moved = to_cpu(x)
        return torch.ops.aten._to_copy.default(moved, dtype=dtype, device=device, **options)
    if dtype is not None and dtype not in TO_IR:
        raise NotImplementedError(f"lazycore has no {dtype} tensors; convert to another dtype first")
    moved = torch.ops.aten._to_copy.default(x, dtype=dtype, device=torch.device("cpu"), **options)
    return to_device(moved)
