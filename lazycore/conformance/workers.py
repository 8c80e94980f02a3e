"""Processes that run one case after another, replaced when one crashes, hangs, or has run long enough."""

from __future__ import annotations

import contextlib
import multiprocessing
import multiprocessing.connection
import os
import signal
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from typing import IO, Any, Generic, TypeVar

from lazycore.conformance.nursery import nursery
from lazycore.conformance.patience import TICK, Patience
from lazycore.conformance.serving import Failure, Here

__all__ = ["Failure", "Here", "Workers", "run_cases"]

C = TypeVar("C")
# A fresh process now and then keeps what thousands of compiled programs leave behind out of the measurement.
CASES_EACH = 80
_SHOWN = 1500


class _Worker(Generic[C]):
    def __init__(self, function: Callable[[C], Any], cases: int, origin: Here) -> None:
        self.pipe, theirs = multiprocessing.Pipe()
        self.errors: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - closed by stop()
        self._origin = origin
        self._pid = origin.fork(function, theirs.fileno(), self.errors.fileno())
        self._code: int | None = None
        theirs.close()
        self.case: C | None = None
        self.left = cases
        self._seconds = 0.0
        self._patience = Patience()

    def give(self, case: C, seconds: float) -> None:
        self.case, self._seconds, self._patience = case, seconds, Patience()
        self.left -= 1
        self.errors.truncate(0)
        with contextlib.suppress(ConnectionError):  # it is gone: collect() says so
            self.pipe.send(case)

    def is_late(self) -> bool:
        return self._patience.spent() > self._seconds

    def collect(self) -> Any:
        """The result, or a Failure where the process is gone."""
        try:
            return self.pipe.recv()
        except (EOFError, ConnectionError):
            self._code = self._origin.end(self._pid)
            return Failure("crash", _ending(self._code) + self._said())

    def hung(self) -> Failure:
        """The Failure of a case that takes too long; the traceback says where it hangs."""
        os.kill(self._pid, signal.SIGUSR1)
        time.sleep(0.2)
        return Failure("timeout", f"no result in {self._seconds:.0f} s" + self._said())

    def _said(self) -> str:
        self.errors.seek(0)
        text = self.errors.read().decode(errors="replace").strip("\0 \n")
        return f"\n{text[-_SHOWN:]}" if text else ""

    def stop(self) -> None:
        self.pipe.close()
        if self._code is None:
            self._code = self._origin.end(self._pid, 0.0)
        self.errors.close()


def _ending(code: int) -> str:
    return signal.Signals(-code).name if code < 0 else f"exit code {code}"


class Workers(Generic[C]):
    """One worker for one case at a time."""

    def __init__(self, function: Callable[[C], Any], each: int = CASES_EACH) -> None:
        self._function, self._each = function, each
        self._worker: _Worker[C] | None = None

    def run(self, case: C, seconds: float) -> Any:
        """The case's result, or a Failure."""
        worker = self._worker or _Worker(self._function, self._each, nursery())
        self._worker = worker
        worker.give(case, seconds)
        while not (ready := worker.pipe.poll(TICK)) and not worker.is_late():
            pass
        result = worker.collect() if ready else worker.hung()
        if isinstance(result, Failure) or worker.left <= 0:
            self.close()
        return result

    def close(self) -> None:
        """End the worker."""
        if self._worker is not None:
            self._worker.stop()
            self._worker = None


def run_cases(
    function: Callable[[C], Any],
    cases: Sequence[C],
    jobs: int,
    seconds: float | Callable[[C], float],
    each: int = CASES_EACH,
    origin: Here | None = None,
) -> Iterator[tuple[C, Any]]:
    """(case, result or Failure) of each case, as they end. ``seconds`` bounds one case; a process runs ``each`` of them
    at most. A failed case is its process's last. ``function`` is pickled, unless ``origin`` is ``Here()``."""
    limit = seconds if callable(seconds) else lambda _: float(seconds)
    source = origin or nursery()
    waiting = list(reversed(cases))
    workers: list[_Worker[C]] = []
    try:
        while waiting or workers:
            while waiting and len(workers) < jobs:
                workers.append(_Worker(function, each, source))
                workers[-1].give(waiting[-1], limit(waiting.pop()))
            ready = set(multiprocessing.connection.wait([w.pipe for w in workers], timeout=TICK))
            for worker in list(workers):
                is_late = worker.is_late()
                if worker.pipe not in ready and not is_late:
                    continue
                case = worker.case
                assert case is not None
                result = worker.collect() if worker.pipe in ready else worker.hung()
                if waiting and not isinstance(result, Failure) and worker.left > 0:
                    worker.give(waiting[-1], limit(waiting.pop()))
                else:
                    worker.stop()
                    workers.remove(worker)
                yield case, result
    finally:
        for worker in workers:
            worker.stop()
