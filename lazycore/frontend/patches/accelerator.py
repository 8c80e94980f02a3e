"""``torch.accelerator``: once the device exists it is torch's accelerator, and C++ has no answer to some questions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from lazycore.frontend.storage import NAME

__all__ = ["install"]

_UNCOUNTED = (
    "max_memory_allocated", "max_memory_reserved", "memory_allocated", "memory_reserved", "memory_stats",
    "get_memory_info", "reset_accumulated_memory_stats", "reset_peak_memory_stats",
)  # fmt: skip


def _synchronize(*_: Any) -> None:
    from lazycore.frontend.sync import wait_all

    wait_all()


def _nothing(*_: Any) -> None:
    """Buffers are freed with their last reference; nothing is held back."""


def _uncounted(name: str) -> Callable[..., Any]:
    def refuse(*_: Any) -> Any:
        raise RuntimeError(
            f"torch.accelerator.{name}: lazycore's memory belongs to its backends, which count it themselves"
        )

    return refuse


def _replace(module: Any, name: str, ours: Callable[..., Any]) -> None:
    native = getattr(module, name)

    def chosen(*args: Any, **kwargs: Any) -> Any:
        accelerator = torch.accelerator.current_accelerator()
        if accelerator is None or accelerator.type != NAME:
            return native(*args, **kwargs)
        return ours(*args)

    chosen.__name__, chosen.__doc__ = name, native.__doc__
    setattr(module, name, chosen)


def install() -> None:
    """Answer for this device what torch asks of the accelerator's allocator and streams."""
    _replace(torch.accelerator, "synchronize", _synchronize)
    _replace(torch.accelerator, "empty_cache", _nothing)
    for name in _UNCOUNTED:
        _replace(torch.accelerator, name, _uncounted(name))
