"""How many threads a program's loops run on.

``TVM_NUM_THREADS`` or ``OMP_NUM_THREADS`` says it, one for each processor by default; what only computes small tensors
takes the caller's.
"""

from __future__ import annotations

import os

__all__ = ["count", "is_wide", "patience", "set_defaults"]

# Loops over fewer elements are over before another thread has woken up, which takes some 50 us.
_WIDE = 1 << 18
_COUNT, _PATIENCE = "TVM_NUM_THREADS", "TVM_THREAD_POOL_SPIN_COUNT"


def set_defaults() -> None:
    """Tell TVM in its environment; what the user has set there stays."""
    os.environ.setdefault(_COUNT, _openmp() or str(len(os.sched_getaffinity(0))))
    # By default TVM's threads look for work for very long before they sleep, on processors that others want; looking
    # until the next loop of the program is enough.
    os.environ.setdefault(_PATIENCE, "300")


def _openmp() -> str | None:
    """OpenMP's number, the first one of a list for nested loops."""
    number = os.environ.get("OMP_NUM_THREADS", "").partition(",")[0].strip()
    return number if number.isdigit() and int(number) > 0 else None


def count() -> int:
    """Of threads, the caller's among them."""
    return int(os.environ[_COUNT])


def patience() -> int:
    """How often a thread looks for the next loop before it sleeps."""
    return int(os.environ[_PATIENCE])


def is_wide(size: object) -> bool:
    """Whether so many turns of loops are worth several threads; a number that varies is not taken for one."""
    return isinstance(size, int) and size >= _WIDE
