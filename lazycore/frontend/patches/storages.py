"""Storages have no data pointer here: whatever Python does with one goes through the storage's state.

Without this, ``torch.save`` and pickle fail, and ``deepcopy``, ``torch.load(map_location=…)`` and
``UntypedStorage(n, device=…)`` read a null pointer.
"""

from __future__ import annotations

from collections.abc import Callable
from multiprocessing.reduction import ForkingPickler
from typing import Any

import torch
import torch.multiprocessing.reductions
import torch.utils.dlpack
from torch import UntypedStorage

from lazycore.frontend.copies import to_cpu
from lazycore.frontend.dtypes import array_of
from lazycore.frontend.factories import uninitialized
from lazycore.frontend.patches.addresses import address_of
from lazycore.frontend.storage import NAME, flat_layout, is_ours
from lazycore.frontend.views import grow
from lazycore.runtime.buffers import DeviceValue

__all__ = ["install"]


def _ours(storage: UntypedStorage) -> bool:
    return storage.device.type == NAME


def _bytes_of(storage: UntypedStorage) -> torch.Tensor:
    """A CPU copy of a device storage's bytes."""
    flat = torch.empty(0, dtype=torch.uint8, device=NAME).set_(storage)
    return to_cpu(flat)


def _cpu_storage(storage: UntypedStorage) -> UntypedStorage:
    return _bytes_of(storage).untyped_storage()


def _set_bytes(storage: UntypedStorage, data: torch.Tensor) -> None:
    """Replace the content; the base becomes the bytes themselves unless it still fits."""
    state = storage.state
    layout = state.layout
    if layout.nbytes != data.numel():
        state.layout = layout = flat_layout(data.numel(), torch.uint8)
        state.mark_viewed()
    typed = data.clone().view(layout.native)
    logical = typed.as_strided(layout.size, layout.stride) if layout.numel else typed.reshape(layout.size)
    state.settle(DeviceValue.from_host(array_of(logical)))


def _new_storage(nbytes: int) -> UntypedStorage:
    return uninitialized((nbytes,), (1,), torch.uint8).untyped_storage()


def _as_bytes(storage: UntypedStorage) -> torch.Tensor:
    if _ours(storage):
        return _bytes_of(storage)
    return torch.empty(0, dtype=torch.uint8, device=storage.device).set_(storage).cpu()


def _construct(original: Callable[..., Any]) -> Callable[..., Any]:
    def __new__(cls: Any, *args: Any, device: Any = None, **kwargs: Any) -> UntypedStorage:
        if device is None or torch.device(device).type != NAME:
            if device is not None:
                kwargs["device"] = device
            return original(cls, *args, **kwargs)  # type: ignore[no-any-return]
        content = args[0] if args else 0
        if isinstance(content, int):
            return _new_storage(content)
        source = original(cls, content)
        storage = _new_storage(source.nbytes())
        _set_bytes(storage, _as_bytes(source))
        return storage

    return __new__


def _copy_(storage: UntypedStorage, source: UntypedStorage, non_blocking: Any = None) -> UntypedStorage:
    if not _ours(storage) and not _ours(source):
        rest = () if non_blocking is None else (non_blocking,)
        return _ORIGINAL["copy_"](storage, source, *rest)  # type: ignore[no-any-return]
    data = _as_bytes(source)
    if _ours(storage):
        _set_bytes(storage, data)
    else:
        torch.empty(0, dtype=torch.uint8, device=storage.device).set_(storage).copy_(data)
    return storage


def _resize_(storage: UntypedStorage, nbytes: int) -> UntypedStorage:
    if not _ours(storage):
        return _ORIGINAL["resize_"](storage, nbytes)  # type: ignore[no-any-return]
    if nbytes > storage.state.layout.nbytes:
        grow(storage.state, nbytes)
    elif nbytes < storage.state.layout.nbytes:
        _set_bytes(storage, _bytes_of(storage)[:nbytes])
    return storage


def _fill_(storage: UntypedStorage, value: int) -> UntypedStorage:
    if not _ours(storage):
        return _ORIGINAL["fill_"](storage, value)  # type: ignore[no-any-return]
    _set_bytes(storage, torch.full((storage.nbytes(),), value, dtype=torch.uint8, device="cpu"))
    return storage


def _clone(storage: UntypedStorage) -> UntypedStorage:
    if not _ours(storage):
        return _ORIGINAL["clone"](storage)  # type: ignore[no-any-return]
    return _copy_(_new_storage(storage.nbytes()), storage)


def _setitem(storage: UntypedStorage, index: Any, value: Any) -> None:
    if not _ours(storage):
        _ORIGINAL["__setitem__"](storage, index, value)
        return
    image = _cpu_storage(storage)
    image[index] = value
    _copy_(storage, image)


def _set_from_file(storage: UntypedStorage, *args: Any) -> UntypedStorage:
    if not _ours(storage):
        return _ORIGINAL["_set_from_file"](storage, *args)  # type: ignore[no-any-return]
    image = UntypedStorage(storage.nbytes())
    image._set_from_file(*args)
    return _copy_(storage, image)


def _through_cpu(name: str) -> Callable[..., Any]:
    """A reading method: on a CPU copy of the bytes."""

    def method(storage: UntypedStorage, *args: Any, **kwargs: Any) -> Any:
        return _ORIGINAL[name](_cpu_storage(storage) if _ours(storage) else storage, *args, **kwargs)

    return method


def _nbytes(storage: UntypedStorage) -> int:
    state = getattr(storage, "state", None)
    return _ORIGINAL["nbytes"](storage) if state is None else state.layout.nbytes


def _data_ptr(storage: UntypedStorage) -> int:
    return address_of(storage) if _ours(storage) else _ORIGINAL["data_ptr"](storage)  # type: ignore[no-any-return]


def _keep(tensor: Any, device: Any = None) -> Any:  # noqa: ARG001
    """``pin_memory``: there is no pinned allocator to be had from Python, and plain memory serves."""
    return tensor


_REPLACED: dict[str, Callable[..., Any]] = {
    "copy_": _copy_,
    "resize_": _resize_,
    "fill_": _fill_,
    "clone": _clone,
    "__setitem__": _setitem,
    "_set_from_file": _set_from_file,
    "nbytes": _nbytes,
    "size": _nbytes,
    "__len__": _nbytes,
    "data_ptr": _data_ptr,
    "pin_memory": _keep,
    "cpu": lambda storage: _cpu_storage(storage) if _ours(storage) else _ORIGINAL["cpu"](storage),
    **{name: _through_cpu(name) for name in ("__getitem__", "_write_file", "tolist")},
}
_ORIGINAL: dict[str, Callable[..., Any]] = {}


def install() -> None:
    """Patch UntypedStorage, DLPack, pinning and sending between processes."""
    for name, method in _REPLACED.items():
        _ORIGINAL[name] = getattr(UntypedStorage, name)
        setattr(UntypedStorage, name, method)
    UntypedStorage.__new__ = _construct(UntypedStorage.__new__)  # type: ignore[method-assign]
    _install_dlpack()
    torch.Tensor.pin_memory = _keep  # type: ignore[method-assign]
    torch.storage.TypedStorage.pin_memory = _keep  # type: ignore[method-assign]
    _install_sending()


def _install_dlpack() -> None:
    """Hand out host copies: the null pointer would be read as data."""
    export, export_device = torch.Tensor.__dlpack__, torch.Tensor.__dlpack_device__
    to_dlpack = torch.utils.dlpack.to_dlpack

    def __dlpack__(self: torch.Tensor, **options: Any) -> Any:
        if not is_ours(self):
            return export(self, **options)
        options.pop("dl_device", None)
        return export(to_cpu(self.detach()), **options)

    def __dlpack_device__(self: torch.Tensor) -> Any:
        return export_device(torch.empty(0, device="cpu")) if is_ours(self) else export_device(self)

    torch.Tensor.__dlpack__ = __dlpack__  # type: ignore[method-assign]
    torch.Tensor.__dlpack_device__ = __dlpack_device__  # type: ignore[method-assign]
    torch.utils.dlpack.to_dlpack = lambda t: to_dlpack(to_cpu(t.detach()) if is_ours(t) else t)
    torch.to_dlpack = torch.utils.dlpack.to_dlpack


def _install_sending() -> None:
    reduce_tensor = torch.multiprocessing.reductions.reduce_tensor

    def reduce(tensor: torch.Tensor) -> Any:
        if not is_ours(tensor):
            return reduce_tensor(tensor)
        return _received, (to_cpu(tensor.detach()), tensor.requires_grad, type(tensor) is torch.nn.Parameter)

    for kind in (torch.Tensor, torch.nn.Parameter):
        ForkingPickler.register(kind, reduce)


def _received(content: torch.Tensor, requires_grad: bool, parameter: bool) -> torch.Tensor:
    tensor = content.to(NAME)
    return torch.nn.Parameter(tensor, requires_grad) if parameter else tensor.requires_grad_(requires_grad)
