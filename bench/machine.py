"""What figures depend on, kept beside them."""

from __future__ import annotations

import os
import platform
from importlib.metadata import version
from pathlib import Path
from typing import Any

__all__ = ["machine"]

_PACKAGES = ("torch", "jax", "jaxlib", "numpy", "lazycore")


def machine() -> dict[str, Any]:
    """Processor, Python and versions."""
    return {"cpu": _model(), "cpus": os.cpu_count(), "machine": platform.machine(), "system": platform.system(),
            "python": platform.python_version(), **{name: version(name) for name in _PACKAGES}}  # fmt: skip


def _model() -> str:
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    return next((s.partition(":")[2].strip() for s in lines if s.startswith("model name")), platform.processor())
