"""How many threads a program's loops run on.

``TVM_NUM_THREADS`` or ``OMP_NUM_THREADS`` says it, one for each processor by default; what only computes small tensors
takes the caller's.
"""

from __future__ import annotations

import os

from lazycore_plugin_api import BackendError

__all__ = ["count", "is_wide", "patience", "set_defaults"]

# Loops of fewer turns are over before another thread has woken up, which takes some 50 us.
_WIDE = 1 << 18
_COUNT, _PATIENCE = "TVM_NUM_THREADS", "TVM_THREAD_POOL_SPIN_COUNT"


def set_defaults() -> None:
    """Say it in TVM's own environment variables; what the user has set there stays."""
    os.environ.setdefault(_COUNT, _openmp() or str(len(os.sched_getaffinity(0))))
    # TVM's own number is a thousand times as large, on processors that others want; looking until the next loop of the
    # program is enough.
    os.environ.setdefault(_PATIENCE, "300")


def _openmp() -> str | None:
    """OpenMP's number, the first one of a list for nested loops."""
    number = os.environ.get("OMP_NUM_THREADS", "").partition(",")[0].strip()
    return number if number.isdigit() and int(number) > 0 else None


def count() -> int:
    """Of threads, the caller's among them. Raises BackendError where the environment says something else."""
    return _number(_COUNT, 1)


def patience() -> int:
    """How often a thread looks for the next loop before it sleeps. Raises BackendError likewise."""
    return _number(_PATIENCE, 0)


def _number(name: str, least: int) -> int:
    text = os.environ[name].strip()
    if not text.isdecimal() or int(text) < least:
        raise BackendError(f"tvm: {name}={text} in the environment is not a number from {least} on")
    return int(text)


def is_wide(size: object) -> bool:
    """Whether so many turns of loops are worth several threads; a number that varies is not taken for one."""
    return isinstance(size, int) and size >= _WIDE
