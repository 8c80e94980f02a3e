"""What XLA's machine code depends on beside the program: versions, the processor's features, the user's XLA flags."""

from __future__ import annotations

import hashlib
import os
import platform
from functools import cache
from pathlib import Path

import jax
import jaxlib

__all__ = ["fingerprint"]

_CPUINFO = Path("/proc/cpuinfo")
_FEATURES = ("flags", "Features")


@cache
def fingerprint() -> str:
    """One line; equal where a compiled program can be run."""
    told = "\n".join((platform.processor(), _features(), os.environ.get("XLA_FLAGS", "")))
    digest = hashlib.blake2b(told.encode(), digest_size=8).hexdigest()
    return f"jax {jax.__version__}, jaxlib {jaxlib.__version__}, {platform.machine()} {digest}"


def _features() -> str:
    """The processor's features where the system tells them."""
    if not _CPUINFO.exists():
        return ""
    with _CPUINFO.open(errors="replace") as lines:
        return next((line for line in lines if line.startswith(_FEATURES)), "")
