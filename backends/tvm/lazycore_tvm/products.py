"""NumPy's products, on the threads that loops run on.

OpenBLAS has threads of its own, which look for work for some 35 ms after each product without giving way: the loops
that come next would share a processor with them. So it is told to use none for as long as a product takes, and threads
of ours compute parts of it.
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Any

import numpy as np
from lazycore_plugin_api import HostArray

from lazycore_tvm.pool import POOL

__all__ = ["product"]

# Products of fewer multiplications are not worth another thread.
_WORTH = 1 << 20
# As it is called in NumPy's own build and in others.
_NAMES = ("scipy_openblas_%s_num_threads64_", "openblas_%s_num_threads64_", "openblas_%s_num_threads")


def _multiplying() -> Any:
    """NumPy's module that is linked to OpenBLAS, which NumPy 2 has renamed."""
    known = (sys.modules.get(f"numpy.{core}._multiarray_umath") for core in ("_core", "core"))
    return next(module for module in known if hasattr(module, "__file__"))


class _Threads:
    """OpenBLAS's number of threads, where that is what NumPy uses. ``users`` want it to be 1; ``usual``: what it was
    before the first of them."""

    def __init__(self) -> None:
        library = ctypes.CDLL(_multiplying().__file__)
        known = (name for name in _NAMES if hasattr(library, name % "set"))
        name = next(known, None)
        self._get, self._set = (getattr(library, name % verb) for verb in ("get", "set")) if name else (None, None)
        self._users, self._usual, self._lock = 0, 1, Lock()

    @contextmanager
    def alone(self) -> Iterator[None]:
        """OpenBLAS uses the caller's thread only."""
        if self._get is None or self._set is None:
            yield
            return
        with self._lock:
            if self._users == 0:
                self._usual = self._get()
                self._set(1)
            self._users += 1
        try:
            yield
        finally:
            with self._lock:
                self._users -= 1
                if self._users == 0:
                    self._set(self._usual)

    def forget(self) -> None:
        """In a forked process, whose only thread multiplies nothing now."""
        if self._users and self._set:
            self._set(self._usual)
        self._users, self._lock = 0, Lock()


_THREADS = _Threads()
os.register_at_fork(after_in_child=_THREADS.forget)


def product(first: HostArray, second: HostArray, out: HostArray | None = None) -> HostArray:
    """``np.matmul`` of numbers."""
    if not POOL.is_ready:
        return np.matmul(first, second, out=out)
    with _THREADS.alone():
        columns = second.shape[-1] if second.ndim > 1 else 1
        if first.size * columns < _WORTH:
            return np.matmul(first, second, out=out)
        if first.ndim == second.ndim == 2:
            return _matrix(first, second, out)
        if first.ndim > 2 or second.ndim > 2:
            return _batch(first, second, out)
        return np.matmul(first, second, out=out)


def _matrix(first: HostArray, second: HostArray, out: HostArray | None) -> HostArray:
    """Rows or columns of the result, whichever are more."""
    m, n = first.shape[0], second.shape[1]
    result = np.empty((m, n), np.result_type(first, second)) if out is None else out
    if m >= n:
        _shared(m, lambda part: np.matmul(first[part], second, out=result[part]))
    else:
        _shared(n, lambda part: np.matmul(first, second[:, part], out=result[:, part]))
    return result


def _batch(first: HostArray, second: HostArray, out: HostArray | None) -> HostArray:
    """Matrices of the first dimension of the batch."""
    if first.ndim == 1 or second.ndim == 1:
        return np.matmul(first, second, out=out)
    batch = np.broadcast_shapes(first.shape[:-2], second.shape[:-2])
    shape = (*batch, first.shape[-2], second.shape[-1])
    result = np.empty(shape, np.result_type(first, second)) if out is None else out

    def of(operand: HostArray, part: slice) -> HostArray:
        return operand[part] if operand.ndim == len(shape) and operand.shape[0] != 1 else operand

    _shared(batch[0], lambda part: np.matmul(of(first, part), of(second, part), out=result[part]))
    return result


def _shared(size: int, compute: Callable[[slice], Any]) -> None:
    """All of the size in parts, one for each thread. Raises what one of them raises."""
    errors: list[BaseException] = []

    def task(number: int, tasks: int) -> None:
        part = slice(size * number // tasks, size * (number + 1) // tasks)
        try:
            if part.start < part.stop:
                compute(part)
        except BaseException as error:  # it must not cross the pool
            errors.append(error)

    POOL.each(task)
    if errors:
        raise errors[0]
