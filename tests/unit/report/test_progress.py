"""The line that a long compile shows."""

from __future__ import annotations

import io
import time

import pytest

from lazycore.report import progress
from lazycore.report.progress import compiling


class Terminal(io.StringIO):
    """A terminal that keeps what it is sent."""

    def isatty(self) -> bool:
        return True


def wait_for(terminal: Terminal, text: str) -> bool:
    deadline = time.monotonic() + 30
    while text not in terminal.getvalue() and time.monotonic() < deadline:
        time.sleep(0.01)
    return text in terminal.getvalue()


def test_a_long_compile_says_what_it_does(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "PATIENCE", 0.01)
    monkeypatch.setenv("TERM", "xterm")
    terminal = Terminal()
    with compiling("compiling 12 ops for [xla]", terminal):
        assert wait_for(terminal, "compiling 12 ops for [xla]")
    shown = terminal.getvalue()
    assert "\x1b[2K" in shown, "the line is removed"
    time.sleep(0.2)
    assert terminal.getvalue() == shown, "and stays removed"


def test_a_short_compile_says_nothing() -> None:
    terminal = Terminal()
    with compiling("compiling 1 op", terminal):
        pass
    assert not terminal.getvalue()


def test_a_file_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    stream = io.StringIO()
    with compiling("compiling 1 op", stream):
        time.sleep(0.1)
    assert not stream.getvalue()


def test_an_error_removes_the_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "PATIENCE", 0.01)
    terminal = Terminal()

    def fails() -> None:
        with compiling("compiling", terminal):
            wait_for(terminal, "compiling")
            raise ValueError("broken")

    with pytest.raises(ValueError, match="broken"):
        fails()
    shown = terminal.getvalue()
    time.sleep(0.2)
    assert terminal.getvalue() == shown
