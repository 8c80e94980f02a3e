"""What XLA's machine code depends on beside the program: versions, devices, the processor's features, XLA's flags."""

from __future__ import annotations

import hashlib
import os
import platform
from functools import cache
from pathlib import Path

import jax
import jaxlib

from lazycore_xla.devices import devices

__all__ = ["fingerprint"]

_CPUINFO = Path("/proc/cpuinfo")
_FEATURES = ("flags", "Features")


@cache
def fingerprint() -> str:
    """One line; equal where a compiled program can be run."""
    told = "\n".join((platform.processor(), _features(), os.environ.get("XLA_FLAGS", ""), *_kinds()))
    digest = hashlib.blake2b(told.encode(), digest_size=8).hexdigest()
    return f"jax {jax.__version__}, jaxlib {jaxlib.__version__}, {platform.machine()} {digest}"


def _kinds() -> list[str]:
    """The platforms' versions and their devices' kinds. How many devices there are is another matter."""
    return sorted({f"{d.platform} {d.device_kind} {d.client.platform_version}" for d in devices().values()})


def _features() -> str:
    """The processor's features where the system tells them."""
    if not _CPUINFO.exists():
        return ""
    with _CPUINFO.open(errors="replace") as lines:
        return next((line for line in lines if line.startswith(_FEATURES)), "")
