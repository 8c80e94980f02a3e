"""Launches that have not ended: two at most, so that recording runs one step ahead and memory does not pile up.

A backend may return before its results exist, and says of none when it will. So some results of each step of a plan are
waited for: they come at once, and the smallest are the least to hold on to.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from itertools import count
from typing import TypeAlias
from weakref import ref

from lazycore_plugin_api import BackendError

from lazycore.runtime.buffers import DeviceValue

__all__ = ["add", "end_all"]

_MOST = 2
# Bytes up to which a result is kept until its launch has ended.
_SMALL = 4096
# Of each launch, for each step of its plan, what leads to some results, if they are still there.
_Launched: TypeAlias = list[list[Callable[[], DeviceValue | None]]]
# By number: what one thread waits for stays visible to others, which want to wait for it too.
_launched: dict[int, _Launched] = {}
_numbers = count()


def add(witnesses: Sequence[Sequence[int]], results: Sequence[DeviceValue]) -> None:
    """Note a launch, after waiting for all but the last one before it. ``witnesses``: for each step, which results to
    wait for. Raises BackendError where what was waited for has failed."""
    _launched[next(_numbers)] = [[_watched(results[p]) for p in positions] for positions in witnesses]
    for number in list(_launched)[:-_MOST]:
        _end(number)


def end_all() -> None:
    """Wait for everything launched. Raises BackendError where something has failed."""
    for number in list(_launched):
        _end(number)


def _watched(value: DeviceValue) -> Callable[[], DeviceValue | None]:
    # A small result is kept, as a program may have dropped its gradients and donated all else; a large one is not: the
    # queue must neither hold memory nor look like a second owner of what may be donated.
    if value.spec.nbytes > _SMALL:
        return ref(value)
    kept = value.witness()
    return lambda: kept


def _end(number: int) -> None:
    """Wait for a launch: for each of its steps, by any result that is still there."""
    try:
        for results in _launched.get(number, ()):
            any(map(_wait, results))
    finally:
        _launched.pop(number, None)


def _wait(entry: Callable[[], DeviceValue | None]) -> bool:
    """Whether the result could be waited for."""
    value = entry()
    if value is None or value.deleted:
        return False
    try:
        value.wait()
    except BackendError:
        if not value.deleted:  # else another thread has donated it just now
            raise
        return False
    return True


def _before_fork() -> None:
    """Wait for everything launched: the child has not the threads that compute it, and would wait for ever."""
    for number in list(_launched):
        with suppress(BackendError):  # raised by the values, when they are looked at
            _end(number)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork)
