"""A backend's session: opened at first use, once per target, told of forks, closed at exit."""

from __future__ import annotations

import atexit
import os
import threading
import warnings
import weakref
from collections.abc import Callable

from lazycore_plugin_api import BackendError, Session

from lazycore.plugins.warning import PluginWarning

__all__ = ["LazySession"]


class LazySession:
    """Opens with ``open_session`` on the first ``get``. A failed opening is tried again by the next ``get``."""

    def __init__(self, name: str, open_session: Callable[[], Session]) -> None:
        self._name = name
        self._open = open_session
        self._lock = threading.Lock()
        self._ready: Session | None = None
        self._inherited: Session | None = None
        _sessions.add(self)

    def get(self) -> Session:
        """The open session. Raises what opening it raises, BackendError if its ``after_fork`` fails."""
        ready = self._ready
        return self._prepare() if ready is None else ready

    def _prepare(self) -> Session:
        with self._lock:
            if self._ready is None and self._inherited is not None:
                self._ready, self._inherited = self._adopt(self._inherited), None
            elif self._ready is None:
                self._ready = self._open()
            return self._ready

    def _adopt(self, inherited: Session) -> Session:
        try:
            inherited.after_fork()
        except Exception as error:
            what = f"its session's after_fork raised {type(error).__name__}: {error}"
            raise BackendError(f"backend {self._name!r}: {what}; use it in the parent process only") from error
        return inherited

    def forked(self) -> None:
        """In a forked child: the session is the parent's until ``after_fork`` was called, at its first use here."""
        # Another thread of the parent may have held the lock; here nobody would ever release it.
        self._lock = threading.Lock()
        self._inherited, self._ready = self._ready or self._inherited, None

    def close(self) -> None:
        """Close the session if this process uses one. A failure is a warning: the program is about to end."""
        ready, self._ready = self._ready, None
        if ready is None:
            return
        try:
            ready.close()
        except Exception as error:
            warnings.warn(f"backend {self._name!r}: closing its session failed: {error!r}", PluginWarning, stacklevel=2)


_sessions: weakref.WeakSet[LazySession] = weakref.WeakSet()


def _after_fork() -> None:
    for session in list(_sessions):
        session.forked()


def _at_exit() -> None:
    for session in list(_sessions):
        session.close()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
atexit.register(_at_exit)
