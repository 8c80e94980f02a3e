"""Processes that run one case after another, replaced when one crashes, hangs, or has run long enough."""

from __future__ import annotations

import multiprocessing
import multiprocessing.connection
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

__all__ = ["Failure", "run_cases"]

Case = tuple[str, str]
# A fresh process now and then keeps what thousands of compiled programs leave behind out of the measurement.
CASES_EACH = 80


class Failure(Exception):
    """A case that gave no result: ``kind`` is ``crash``, ``timeout``, or ``error`` where the function raised."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(kind, message)
        self.kind, self.message = kind, message

    def __str__(self) -> str:
        return f"{self.kind}: {self.message}"


class _Worker:
    def __init__(self, function: Callable[[Case], Any]) -> None:
        context = multiprocessing.get_context("fork")
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(target=_serve, args=(function, theirs, self.pipe), daemon=True)
        self.process.start()
        theirs.close()
        self.case: Case | None = None
        self.deadline = 0.0
        self.left = CASES_EACH

    def give(self, case: Case, seconds: float) -> None:
        self.case, self.deadline = case, time.monotonic() + seconds
        self.left -= 1
        self.pipe.send(case)

    def collect(self) -> Any:
        """The result, or a Failure where the process is gone."""
        try:
            return self.pipe.recv()
        except EOFError:
            self.process.join()
            code = self.process.exitcode or 0
            return Failure("crash", signal.Signals(-code).name if code < 0 else f"exit code {code}")

    def stop(self) -> None:
        self.process.kill()
        self.process.join()
        self.pipe.close()


def _serve(function: Callable[[Case], Any], pipe: Any, parents_end: Any) -> None:
    parents_end.close()
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    os.dup2(null, 2)
    sys.stdout = sys.stderr = open(os.devnull, "w")  # noqa: SIM115 - for the life of the process
    while True:
        try:
            case = pipe.recv()
        except EOFError:
            os._exit(0)
        try:
            result = function(case)
        except Exception as error:
            result = Failure("error", repr(error))
        pipe.send(result)


def run_cases(
    function: Callable[[Case], Any], cases: Sequence[Case], jobs: int, seconds: float
) -> Iterator[tuple[Case, Any]]:
    """(case, result or Failure) of each case, as they end. ``seconds`` bounds one case."""
    waiting = list(reversed(cases))
    workers: list[_Worker] = []
    while waiting or workers:
        while waiting and len(workers) < jobs:
            workers.append(_Worker(function))
            workers[-1].give(waiting.pop(), seconds)
        ready = set(multiprocessing.connection.wait([w.pipe for w in workers], timeout=1))
        for worker in list(workers):
            if worker.pipe not in ready and time.monotonic() <= worker.deadline:
                continue
            hung = worker.pipe not in ready
            result = Failure("timeout", f"no result in {seconds:.0f} s") if hung else worker.collect()
            assert worker.case is not None
            yield worker.case, result
            if waiting and not isinstance(result, Failure) and worker.left > 0:
                worker.give(waiting.pop(), seconds)
            else:
                worker.stop()
                workers.remove(worker)
