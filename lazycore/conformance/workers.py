"""Processes that run one case after another, replaced when one crashes, hangs, or has run long enough."""

from __future__ import annotations

import faulthandler
import multiprocessing
import multiprocessing.connection
import os
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from typing import IO, Any, Generic, TypeVar

__all__ = ["Failure", "Workers", "run_cases"]

C = TypeVar("C")
# A fresh process now and then keeps what thousands of compiled programs leave behind out of the measurement.
CASES_EACH = 80
_SHOWN = 1500


class Failure(Exception):
    """A case that gave no result: ``kind`` is ``crash``, ``timeout``, or ``error`` where the function raised."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(kind, message)
        self.kind, self.message = kind, message

    def __str__(self) -> str:
        return f"{self.kind}: {self.message}"


class _Worker(Generic[C]):
    def __init__(self, function: Callable[[C], Any], cases: int) -> None:
        context = multiprocessing.get_context("fork")
        self.pipe, theirs = context.Pipe()
        self.errors: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - closed by stop()
        self.process = context.Process(target=_serve, args=(function, theirs, self.pipe, self.errors.fileno()))
        self.process.daemon = True
        self.process.start()
        theirs.close()
        self.case: C | None = None
        self.deadline = 0.0
        self.left = cases

    def give(self, case: C, seconds: float) -> None:
        self.case, self.deadline = case, time.monotonic() + seconds
        self.left -= 1
        self.errors.truncate(0)
        self.pipe.send(case)

    def collect(self) -> Any:
        """The result, or a Failure where the process is gone."""
        try:
            return self.pipe.recv()
        except (EOFError, ConnectionError):
            self.process.join()
            return Failure("crash", _ending(self.process.exitcode or 0) + self._said())

    def hung(self, seconds: float) -> Failure:
        """The Failure of a case that takes too long; the traceback says where it hangs."""
        if self.process.pid is not None:
            os.kill(self.process.pid, signal.SIGUSR1)
            time.sleep(0.2)
        return Failure("timeout", f"no result in {seconds:.0f} s" + self._said())

    def _said(self) -> str:
        self.errors.seek(0)
        text = self.errors.read().decode(errors="replace").strip("\0 \n")
        return f"\n{text[-_SHOWN:]}" if text else ""

    def stop(self) -> None:
        self.process.kill()
        self.process.join()
        self.pipe.close()
        self.errors.close()


def _ending(code: int) -> str:
    return signal.Signals(-code).name if code < 0 else f"exit code {code}"


def _serve(function: Callable[[Any], Any], pipe: Any, parents_end: Any, errors: int) -> None:
    parents_end.close()
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    os.dup2(errors, 2)
    sys.stdout = open(os.devnull, "w")  # noqa: SIM115 - for the life of the process
    sys.stderr = os.fdopen(os.dup(2), "w", buffering=1)
    faulthandler.enable(sys.stderr)
    faulthandler.register(signal.SIGUSR1, sys.stderr, all_threads=True)
    while True:
        try:
            case = pipe.recv()
        except EOFError:
            os._exit(0)
        pipe.send(_result(function, case))


def _result(function: Callable[[Any], Any], case: Any) -> Any:
    try:
        return function(case)
    except SystemExit as error:  # a plugin's sys.exit() is a failure of the case, not an answer
        return Failure("error", f"SystemExit: {error}")
    except Exception as error:
        return Failure("error", f"{type(error).__name__}: {error}")


class Workers(Generic[C]):
    """One worker for one case at a time."""

    def __init__(self, function: Callable[[C], Any], each: int = CASES_EACH) -> None:
        self._function, self._each = function, each
        self._worker: _Worker[C] | None = None

    def run(self, case: C, seconds: float) -> Any:
        """The case's result, or a Failure."""
        worker = self._worker or _Worker(self._function, self._each)
        self._worker = worker
        worker.give(case, seconds)
        result = worker.collect() if worker.pipe.poll(seconds) else worker.hung(seconds)
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
) -> Iterator[tuple[C, Any]]:
    """(case, result or Failure) of each case, as they end. ``seconds`` bounds one case; a process runs ``each`` of them
    at most. A failed case is its process's last."""
    limit = seconds if callable(seconds) else lambda _: float(seconds)
    waiting = list(reversed(cases))
    workers: list[_Worker[C]] = []
    try:
        while waiting or workers:
            while waiting and len(workers) < jobs:
                workers.append(_Worker(function, each))
                workers[-1].give(waiting[-1], limit(waiting.pop()))
            ready = set(multiprocessing.connection.wait([w.pipe for w in workers], timeout=1))
            for worker in list(workers):
                if worker.pipe not in ready and time.monotonic() <= worker.deadline:
                    continue
                case = worker.case
                assert case is not None
                result = worker.collect() if worker.pipe in ready else worker.hung(limit(case))
                if waiting and not isinstance(result, Failure) and worker.left > 0:
                    worker.give(waiting[-1], limit(waiting.pop()))
                else:
                    worker.stop()
                    workers.remove(worker)
                yield case, result
    finally:
        for worker in workers:
            worker.stop()
