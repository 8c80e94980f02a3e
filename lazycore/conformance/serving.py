"""Worker processes from the inside: one answers case after case until its pipe ends."""

from __future__ import annotations

import faulthandler
import os
import signal
import sys
import time
import traceback
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any, NoReturn

__all__ = ["PATIENCE", "Failure", "Here", "become_worker", "ended"]

PATIENCE = 5.0
"""Seconds that a process whose pipe has ended may take to end itself."""


class Failure(Exception):
    """A case that gave no result: ``kind`` is ``crash``, ``timeout``, or ``error`` where the function raised."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(kind, message)
        self.kind, self.message = kind, message

    def __str__(self) -> str:
        return f"{self.kind}: {self.message}"


class Here:
    """Forks workers from this process, whatever it has done: for functions that cannot be pickled."""

    def fork(self, function: Callable[[Any], Any], pipe: int, errors: int) -> int:
        """A worker's process id."""
        pid = os.fork()
        if not pid:
            become_worker(lambda: function, pipe, errors)
        return pid

    def end(self, pid: int, seconds: float = PATIENCE) -> int:
        """Wait for a worker, and kill it after ``seconds``. Its exit code, a signal's number negative."""
        return ended(pid, seconds)


def ended(pid: int, seconds: float) -> int:
    """The exit code of a child, which is killed where it does not end in ``seconds``."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.01)
    os.kill(pid, signal.SIGKILL)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def become_worker(found: Callable[[], Callable[[Any], Any]], pipe: int, errors: int) -> NoReturn:
    """Answer what comes through the pipe by the function that is found, and end the process with it. ``errors``: a file
    that gets what the process says, and where it is when it gets SIGUSR1."""
    code = 1
    try:
        _redirect(errors)
        function = found()
        with Connection(pipe) as connection:
            _serve(function, connection)
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(code)  # nothing that the process it was forked from has set up for its own end


def _redirect(errors: int) -> None:
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    os.dup2(errors, 2)
    sys.stdout = open(os.devnull, "w")  # noqa: SIM115 - for the life of the process
    sys.stderr = os.fdopen(os.dup(2), "w", buffering=1)
    faulthandler.enable(sys.stderr)
    faulthandler.register(signal.SIGUSR1, sys.stderr, all_threads=True)


def _serve(function: Callable[[Any], Any], connection: Connection) -> None:
    while True:
        try:
            case = connection.recv()
        except EOFError:
            return
        connection.send(_result(function, case))


def _result(function: Callable[[Any], Any], case: Any) -> Any:
    try:
        return function(case)
    except SystemExit as error:  # a plugin's sys.exit() is a failure of the case, not an answer
        return Failure("error", f"SystemExit: {error}")
    except Exception as error:
        return Failure("error", f"{type(error).__name__}: {error}")
