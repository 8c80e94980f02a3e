"""The other end of ``bench.worker``: starts a process and talks to it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from types import TracebackType
from typing import Any

from bench.ways import ALL, environment

__all__ = ["WorkerFailed", "WorkerProcess"]


class WorkerFailed(RuntimeError):
    """A process ended instead of answering; its own message is on standard error."""


class WorkerProcess:
    """A running worker, ended at the end of the ``with`` block. It trains its first step meanwhile. Raises ValueError
    for a way that does not exist."""

    def __init__(self, program: str, way: str, threads: int, cache: Path) -> None:
        if way not in ALL:
            raise ValueError(f"there is no way {way!r}, only {', '.join(map(repr, ALL))}")
        self.name = f"{way} on {program}"
        command = [sys.executable, "-m", "bench.worker", program, way, str(threads)]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                         env=environment(cache, ALL[way]))  # fmt: skip

    def __enter__(self) -> WorkerProcess:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._process.kill()
        self._process.wait()

    def ask(self, *command: Any) -> Any:
        """The answer to one command. Raises WorkerFailed where the process has ended."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            self._process.stdin.write(json.dumps(command) + "\n")
            self._process.stdin.flush()
            return json.loads(self._process.stdout.readline())
        except (BrokenPipeError, json.JSONDecodeError) as error:
            raise WorkerFailed(f"{self.name} ended with exit code {self._process.wait()}") from error
