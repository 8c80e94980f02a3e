"""The process that workers are forked from: it has imported what they need, and done nothing else.

Forked from the caller, a worker would have that one's past: locks of threads that are gone, and an autograd engine that
refuses to start again. Started afresh, each would pay for importing torch.
"""

from __future__ import annotations

import importlib
import os
import pickle
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from multiprocessing.connection import Connection
from typing import Any

from lazycore.conformance.serving import PATIENCE, Here, become_worker, ended

__all__ = ["Nursery", "main", "nursery"]

_START = "import sys; sys.path[:] = {paths!r}; from lazycore.conformance.nursery import main; main({channel})"


@dataclass(frozen=True)
class _Setting:
    """What a worker has of the process that wants it: where modules are found, the environment, the folder."""

    paths: Sequence[str]
    environment: Mapping[str, str]
    folder: str

    def enter(self) -> None:
        sys.path[:] = self.paths
        os.environ.clear()
        os.environ.update(self.environment)
        os.chdir(self.folder)
        importlib.invalidate_caches()


@cache
def nursery() -> Nursery:
    """The one of this process, which ends with it."""
    return Nursery()


class Nursery(Here):
    """The caller's end. Its methods raise ChildProcessError where the other one is gone."""

    def __init__(self) -> None:
        ours, theirs = socket.socketpair()
        code = _START.format(paths=list(sys.path), channel=theirs.fileno())
        # One thread each: many workers run beside each other, and idle threads of pools would fight for the cores.
        environment = {"OMP_NUM_THREADS": "1", **os.environ}
        self._process = subprocess.Popen(
            [sys.executable, "-c", code], pass_fds=[theirs.fileno()], env=environment, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
        )  # fmt: skip
        theirs.close()
        self._socket, self._channel = ours, Connection(os.dup(ours.fileno()))

    def prepare(self, modules: Sequence[str]) -> dict[str, str]:
        """Import these where workers are forked from. Module -> error for those that cannot be imported there; the
        worker that needs one meets the same error."""
        failed: dict[str, str] = self._ask("prepare", tuple(modules))
        return failed

    def fork(self, function: Callable[[Any], Any], pipe: int, errors: int) -> int:
        """A worker's process id. ``function`` is pickled: it must be found by its module and name."""
        setting = _Setting(tuple(sys.path), dict(os.environ), os.getcwd())
        return int(self._ask("fork", pickle.dumps(function), setting, files=(pipe, errors)))

    def end(self, pid: int, seconds: float = PATIENCE) -> int:
        """As of ``Here``: the other end does it, whose child the worker is."""
        return int(self._ask("end", pid, seconds))

    def _ask(self, request: str, *content: Any, files: Sequence[int] = ()) -> Any:
        try:
            self._channel.send((request, content))
            if files:
                socket.send_fds(self._socket, [b"f"], files)
            return self._channel.recv()
        except (EOFError, OSError) as error:
            code = self._process.wait()
            nursery.cache_clear()
            raise ChildProcessError(f"the process that workers are forked from ended with code {code}") from error


class _Mother:
    """The other end. A method per request."""

    def __init__(self, channel: int) -> None:
        self._socket = socket.socket(fileno=channel)
        self._channel = Connection(os.dup(channel))
        self._children: set[int] = set()

    def answer(self) -> None:
        """One request. Raises EOFError after the last."""
        request, content = self._channel.recv()
        answers: dict[str, Callable[..., Any]] = {"prepare": self.prepare, "fork": self.fork, "end": self.end}
        self._channel.send(answers[request](*content))

    def prepare(self, modules: Sequence[str]) -> dict[str, str]:
        failed = {}
        for module in modules:
            try:
                importlib.import_module(module)
            except Exception as error:
                failed[module] = f"{type(error).__name__}: {error}"
        return failed

    def fork(self, function: bytes, setting: _Setting) -> int:
        _, (pipe, errors), _, _ = socket.recv_fds(self._socket, 1, 2)
        pid = os.fork()
        if not pid:
            become_worker(lambda: self._left(function, setting), pipe, errors)
        os.close(pipe)
        os.close(errors)
        self._children.add(pid)
        return pid

    def _left(self, function: bytes, setting: _Setting) -> Callable[[Any], Any]:
        """What a worker is to run, which has none of its mother's files any more."""
        self._socket.close()
        self._channel.close()
        setting.enter()
        call: Callable[[Any], Any] = pickle.loads(function)
        return call

    def end(self, pid: int, seconds: float) -> int:
        self._children.discard(pid)
        return ended(pid, seconds)

    def close(self) -> None:
        for pid in self._children:
            os.kill(pid, signal.SIGKILL)


def main(channel: int) -> None:
    """Fork and wait for workers as the other end of the socket asks, until it is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C goes to all of a terminal; the caller decides
    mother = _Mother(channel)
    try:
        while True:
            mother.answer()
    except (EOFError, ConnectionError):
        mother.close()
