"""A line on the terminal while a compile lasts, so that a program that waits does not look hung."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any

__all__ = ["PATIENCE", "compiling"]

PATIENCE = 2.0
"""Seconds for which nobody needs to be told anything."""


@contextmanager
def compiling(what: str, stream: IO[str] | None = None) -> Iterator[None]:
    """Show ``what`` and the time it takes on a terminal (default: standard error) once it has taken two seconds, and
    remove the line at the end. Anything but a terminal is left alone."""
    stream = stream or sys.stderr
    if stream is None or not stream.isatty():
        yield
        return
    line = _Line(what, stream)
    timer = threading.Timer(PATIENCE, line.show)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        line.remove()


class _Line:
    """The line; shown by the timer's thread and removed by the one that compiles, whichever comes first."""

    def __init__(self, what: str, stream: IO[str]) -> None:
        self._what = what
        self._stream = stream
        self._lock = threading.Lock()
        self._progress: Any = None
        self._over = False

    def show(self) -> None:
        # Few compiles last this long, so that few programs need rich.
        from rich.console import Console
        from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

        columns = SpinnerColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn()
        with self._lock:
            if self._over:
                return
            self._progress = Progress(*columns, console=Console(file=self._stream), transient=True)
            self._progress.add_task(f"lazycore: {self._what}", total=None)
            self._progress.start()

    def remove(self) -> None:
        with self._lock:
            self._over = True
            if self._progress is not None:
                self._progress.stop()
