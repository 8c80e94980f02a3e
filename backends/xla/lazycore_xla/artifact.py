"""Compiled programs as bytes and back, for the versions and the processor they were compiled for."""

from __future__ import annotations

import pickle
import platform
from functools import cache
from pathlib import Path
from typing import Any

import jax
import jaxlib
from jax.experimental import serialize_executable
from lazycore_plugin_api import BackendError

from lazycore_xla.configuration import own_configuration

__all__ = ["load", "save"]


@cache
def _host() -> str:
    """What XLA's machine code depends on: versions, and the processor's features where the system tells them."""
    features = platform.processor()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        features = next((line for line in cpuinfo.read_text().splitlines() if line.startswith("flags")), features)
    return "\n".join((jax.__version__, jaxlib.__version__, platform.machine(), features))


def save(compiled: jax.stages.Compiled, extra: object) -> bytes:
    """The program as bytes, with a picklable object beside it."""
    return pickle.dumps((_host(), serialize_executable.serialize(compiled), extra))


def load(payload: bytes) -> tuple[jax.stages.Compiled, Any]:
    """What ``save`` wrote. Raises BackendError for bytes of another version or machine. The bytes are trusted: they
    hold machine code and pickled objects."""
    host, program, extra = pickle.loads(payload)
    if host != _host():
        raise BackendError("xla: the stored program is of another jax version or machine; it must be compiled anew")
    with own_configuration():
        return serialize_executable.deserialize_and_load(*program), extra
