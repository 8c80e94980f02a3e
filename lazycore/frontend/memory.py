"""A full device's error, in the class that a PyTorch program catches."""

from __future__ import annotations

import torch
from lazycore_plugin_api import OutOfMemory

from lazycore.runtime.failures import full

__all__ = ["DeviceOutOfMemory", "install"]


class DeviceOutOfMemory(OutOfMemory, torch.OutOfMemoryError):
    """``torch.OutOfMemoryError`` (the same class as ``torch.cuda.OutOfMemoryError``) of the lazycore device."""


def install() -> None:
    """Let the runtime raise it."""
    full(DeviceOutOfMemory)
