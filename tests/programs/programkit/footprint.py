"""What this process holds: memory, and storages of the device."""

from __future__ import annotations

import gc
import os
from pathlib import Path

import lazycore
from lazycore.trace.state import StorageState

__all__ = ["resident", "settle"]


def resident() -> int:
    """Bytes of this process in memory."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def settle() -> int:
    """Live storage states once everything pending ran and garbage is gone."""
    lazycore.sync()
    gc.collect()
    lazycore.sync()
    return sum(isinstance(item, StorageState) for item in gc.get_objects())
