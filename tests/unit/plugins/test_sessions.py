from __future__ import annotations

import os
import threading
import time

import pytest
from lazycore_plugin_api import BackendError, HostSession

from lazycore.plugins.sessions import LazySession
from lazycore.plugins.warning import PluginWarning


class Recording(HostSession):
    """Writes down what it is told; ``after_fork`` and ``close`` may be made to fail."""

    def __init__(self, fails: bool = False) -> None:
        self.events: list[str] = []
        self.fails = fails

    def after_fork(self) -> None:
        self.events.append("after_fork")
        if self.fails:
            raise OSError("device lost")

    def close(self) -> None:
        self.events.append("close")
        if self.fails:
            raise OSError("device lost")


def test_opens_at_first_use_and_once_though_threads_race() -> None:
    opened: list[Recording] = []

    def slow() -> Recording:
        time.sleep(0.02)
        opened.append(Recording())
        return opened[-1]

    session = LazySession("acme", slow)
    assert opened == []
    threads = [threading.Thread(target=session.get) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(opened) == 1
    assert session.get() is opened[0]


def test_a_failed_opening_is_tried_again() -> None:
    attempts = iter([OSError("busy"), Recording()])

    def open_session() -> Recording:
        result = next(attempts)
        if isinstance(result, OSError):
            raise result
        return result

    session = LazySession("acme", open_session)
    with pytest.raises(OSError, match="busy"):
        session.get()
    assert isinstance(session.get(), Recording)


def in_child(check: object) -> int:
    """The exit status of a forked child that runs ``check``: 0 if it returns, 1 if it raises."""
    child = os.fork()
    if child == 0:
        try:
            check()  # type: ignore[operator]
        except BaseException:
            os._exit(1)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
@pytest.mark.filterwarnings("ignore:.*fork.*:RuntimeWarning")
def test_a_forked_child_tells_the_session_before_its_first_use_only() -> None:
    recording = Recording()
    session = LazySession("acme", lambda: recording)
    session.get()

    def check() -> None:
        assert recording.events == []
        assert session.get() is recording
        session.get()
        assert recording.events == ["after_fork"]

    assert in_child(check) == 0
    assert recording.events == []


def test_a_failing_after_fork_names_the_backend_each_time() -> None:
    recording = Recording(fails=True)
    session = LazySession("acme", lambda: recording)
    session.get()
    session.forked()
    for _ in range(2):
        with pytest.raises(BackendError, match="backend 'acme': its session's after_fork raised OSError: device lost"):
            session.get()
    recording.fails = False
    assert session.get() is recording


def test_closes_what_was_opened_here() -> None:
    recording = Recording()
    session = LazySession("acme", lambda: recording)
    session.close()
    assert recording.events == []
    session.get()
    session.close()
    assert recording.events == ["close"]


def test_a_child_that_never_used_the_session_does_not_close_it() -> None:
    recording = Recording()
    session = LazySession("acme", lambda: recording)
    session.get()
    session.forked()
    session.close()
    assert recording.events == []


def test_a_failing_close_is_a_warning() -> None:
    session = LazySession("acme", lambda: Recording(fails=True))
    session.get()
    with pytest.warns(PluginWarning, match="backend 'acme': closing its session failed"):
        session.close()
