"""What TVM's machine code depends on beside the program: its version and the processor's features.

TVM itself is not imported: listing backends must not wait for it.
"""

from __future__ import annotations

import hashlib
import platform
from functools import cache
from importlib import metadata
from itertools import takewhile
from pathlib import Path

__all__ = ["fingerprint"]

_CPUINFO = Path("/proc/cpuinfo")
# The model too: it is what the compiler asks which instructions to take.
_FEATURES = ("flags", "Features", "vendor_id", "cpu family", "model", "stepping")


@cache
def fingerprint() -> str:
    """One line; equal where a compiled program can be run."""
    told = "\n".join((platform.processor(), *_features()))
    digest = hashlib.blake2b(told.encode(), digest_size=8).hexdigest()
    versions = ", ".join(f"{name} {_version(f'apache-{name}')}" for name in ("tvm", "tvm-ffi"))
    return f"{versions}, {platform.machine()} {digest}"


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "not installed"


def _features() -> list[str]:
    """The first processor's lines where the system tells them."""
    if not _CPUINFO.exists():
        return []
    with _CPUINFO.open(errors="replace") as lines:
        return [line for line in takewhile(str.strip, lines) if line.startswith(_FEATURES)]
