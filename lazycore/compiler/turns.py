"""Turn-taking for backends whose executables run in any thread, but in one at a time."""

from __future__ import annotations

from contextlib import AbstractContextManager
from threading import RLock
from weakref import WeakKeyDictionary

from lazycore_plugin_api import Session, Threads

from lazycore.compiler.protocols import Backend

__all__ = ["run_turn"]

_RUNNING: WeakKeyDictionary[Session, RLock] = WeakKeyDictionary()


def run_turn(backend: Backend) -> AbstractContextManager[object] | None:
    """What to hold while one of the backend's executables runs; None where several may run at once."""
    if backend.info.capabilities.run_threads is Threads.concurrent:
        return None
    return _RUNNING.setdefault(backend.session, RLock())
