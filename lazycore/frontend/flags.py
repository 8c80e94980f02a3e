"""Errors that launched work reports by flags: each thread's own, raised at its next observation."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from lazycore.frontend.index_bounds import raise_unless_within
from lazycore.frontend.local import local
from lazycore.runtime.buffers import DeviceValue
from lazycore.trace.recorder import Recorder

if TYPE_CHECKING:
    from lazycore.compiler.build import FlagCheck

__all__ = ["check_flags", "watch_flags"]

# A program that never observes must not pile up flags: beyond these, the oldest, which has long been computed, is read.
_KEPT = 64

Flag = tuple["FlagCheck", DeviceValue, DeviceValue]


def watch_flags(recorder: Recorder, flags: list[Flag]) -> None:
    """Keep the flags of a launch until the recorder's thread looks at something."""
    waiting: deque[Flag] = recorder.flags
    waiting.extend(flags)
    while len(waiting) > _KEPT:
        error = _error_of(waiting.popleft())
        recorder.error = recorder.error or error


def check_flags() -> None:
    """Raise the first error that this thread's launched work has reported; later ones went with it."""
    recorder = local.recorder
    error, recorder.error = recorder.error, None
    while recorder.flags and error is None:
        error = _error_of(recorder.flags.popleft())
    if error is not None:
        recorder.flags.clear()
        raise error


def _error_of(flag: Flag) -> Exception | None:
    check, low, high = flag
    bounds = int(low.to_host()), int(high.to_host())
    try:
        raise_unless_within(check, bounds)
    except check.check.error as error:
        return error.with_traceback(None)
    return None
