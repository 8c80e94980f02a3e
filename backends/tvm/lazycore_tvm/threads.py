"""How many threads a program's loops run on.

``TVM_NUM_THREADS`` or ``OMP_NUM_THREADS`` says it, one for each processor by default; what only computes small tensors
takes the caller's.
"""

from __future__ import annotations

import math
import os

from lazycore_plugin_api import Segment

__all__ = ["count", "has_wide", "is_wide", "patience", "set_defaults"]

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
    """Whether a loop over so many elements is worth several threads; a number that varies is not taken for one."""
    return isinstance(size, int) and size >= _WIDE


def has_wide(segment: Segment) -> bool:
    """Whether loops of the segment's program may run on several threads."""
    return any(is_wide(math.prod(v.spec.shape)) for node in segment.nodes for v in node.outputs)  # type: ignore[arg-type]
