"""What this process holds in memory, as Linux tells it."""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["forget_peak", "peak_mib", "resident_mib"]

_SELF = Path("/proc/self")


def resident_mib() -> float:
    """MiB in memory now."""
    pages = int((_SELF / "statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def peak_mib() -> float:
    """The most MiB in memory since the start, or since ``forget_peak``."""
    line = next(s for s in (_SELF / "status").read_text().splitlines() if s.startswith("VmHWM:"))
    return int(line.split()[1]) / 1024


def forget_peak() -> None:
    """Let the peak begin at what is held now."""
    (_SELF / "clear_refs").write_text("5")
