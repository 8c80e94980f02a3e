"""Turn-taking for backends that may be called from any thread, but by one at a time."""

from __future__ import annotations

from contextlib import AbstractContextManager
from threading import RLock
from weakref import WeakKeyDictionary

from lazycore_plugin_api import Session, Threads

from lazycore.compiler.protocols import Backend

__all__ = ["compile_turn", "run_turn"]

_COMPILING: WeakKeyDictionary[Session, RLock] = WeakKeyDictionary()
_RUNNING: WeakKeyDictionary[Session, RLock] = WeakKeyDictionary()


def compile_turn(backend: Backend) -> AbstractContextManager[object] | None:
    """What to hold while the backend compiles; None where it compiles from several threads at once."""
    return _turn(backend.session, backend.info.capabilities.compile_threads, _COMPILING)


def run_turn(backend: Backend) -> AbstractContextManager[object] | None:
    """What to hold while one of the backend's executables runs; None where several may run at once."""
    return _turn(backend.session, backend.info.capabilities.run_threads, _RUNNING)


def _turn(session: Session, threads: Threads, turns: WeakKeyDictionary[Session, RLock]) -> RLock | None:
    return None if threads is Threads.concurrent else turns.setdefault(session, RLock())
