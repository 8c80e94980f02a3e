"""How many threads a program's loops run on, and from where.

TVM keeps a pool of threads for each thread that ever started a parallel loop. So that callers which come and go leave
none behind, and a forked process does not wait for threads that it has not got, all such programs are started by one
thread of our own. ``TVM_NUM_THREADS`` or ``OMP_NUM_THREADS`` says how many threads there are, one for each processor
by default; what only computes small tensors takes the caller's.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from lazycore_plugin_api import Segment

__all__ = ["has_wide", "is_wide", "launched", "set_defaults"]

_T = TypeVar("_T")
# Loops over fewer elements are over before another thread has woken up, which takes some 50 us.
_WIDE = 1 << 18
_COUNT = "TVM_NUM_THREADS"


def set_defaults() -> None:
    """Tell TVM in its environment, which it reads at every parallel loop; what the user has set there stays."""
    os.environ.setdefault(_COUNT, _openmp() or str(len(os.sched_getaffinity(0))))
    # By default TVM pins the thread that calls it first to a core, and its threads look for work for very long before
    # they sleep, on processors that others want; looking until the next loop of the program is enough.
    os.environ.setdefault("TVM_BIND_THREADS", "0")
    os.environ.setdefault("TVM_THREAD_POOL_SPIN_COUNT", "300")


def _openmp() -> str | None:
    """OpenMP's number, the first one of a list for nested loops."""
    number = os.environ.get("OMP_NUM_THREADS", "").partition(",")[0].strip()
    return number if number.isdigit() and int(number) > 0 else None


def is_wide(size: object) -> bool:
    """Whether a loop over so many elements is worth several threads; a number that varies is not taken for one."""
    return isinstance(size, int) and size >= _WIDE


class _Launcher:
    """The thread that starts programs with parallel loops; there is none before the first of them."""

    def __init__(self) -> None:
        self.thread: ThreadPoolExecutor | None = None

    def forget(self) -> None:
        """In a forked process, which has only the thread that forked: loops run on the caller's."""
        self.thread = None
        os.environ[_COUNT] = "1"

    def start(self) -> ThreadPoolExecutor:
        self.thread = self.thread or ThreadPoolExecutor(1, "lazycore-tvm")
        return self.thread


_launcher = _Launcher()
os.register_at_fork(after_in_child=_launcher.forget)


def launched(run: Callable[[], _T]) -> _T:
    """What ``run``, which runs a program with wide loops, returns."""
    if os.environ.get(_COUNT) == "1":
        return run()
    return _launcher.start().submit(run).result()


def has_wide(segment: Segment) -> bool:
    """Whether loops of the segment's program may run on several threads."""
    return any(is_wide(math.prod(v.spec.shape)) for node in segment.nodes for v in node.outputs)  # type: ignore[arg-type]
