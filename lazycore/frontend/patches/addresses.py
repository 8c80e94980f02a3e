"""Data pointers for what has none: addresses that nothing dereferences, told apart by whoever compares them.

Programs compare pointers to find tensors that share memory (when saving, tying or deduplicating weights); with the
null pointer for all of them, all would seem to be one.
"""

from __future__ import annotations

import threading

import torch
from torch import UntypedStorage

from lazycore.frontend.storage import NAME

__all__ = ["address_of", "install"]

_ALIGNMENT = 512
_lock = threading.Lock()
_next = 1 << 60
"""Far above what any system maps, so that using one as a pointer faults at once."""


def address_of(storage: UntypedStorage) -> int:
    """The first address of a storage's own range; another one after it has outgrown that. 0 where it is empty."""
    nbytes = storage.nbytes()
    if not nbytes:
        return 0
    start, reserved = getattr(storage, "address", (0, 0))
    if nbytes > reserved:
        start, reserved = storage.address = _reserve(nbytes)  # type: ignore[attr-defined]
    return start


def _reserve(nbytes: int) -> tuple[int, int]:
    global _next
    reserved = -(-nbytes // _ALIGNMENT) * _ALIGNMENT
    with _lock:
        start, _next = _next, _next + reserved
    return start, reserved


def install() -> None:
    """Replace ``Tensor.data_ptr``; the storage's is replaced with its other methods."""
    native = torch.Tensor.data_ptr

    def data_ptr(self: torch.Tensor) -> int:
        if self.device.type != NAME or torch._C._dispatch_keys(self).has(torch._C.DispatchKey.Python):
            return native(self)
        if not self.numel():
            return 0
        return address_of(self.untyped_storage()) + self.storage_offset() * self.element_size()

    torch.Tensor.data_ptr = data_ptr  # type: ignore[method-assign]
