"""Workers know nothing of the process that wants them, and outlast what it goes through."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from lazycore.conformance import patience
from lazycore.conformance.case import Status
from lazycore.conformance.nursery import Nursery, nursery
from lazycore.conformance.running import Request, run_suite
from lazycore.conformance.workers import Failure, Workers, run_cases


def test_backward_passes_here_do_not_matter_there(backend: Callable[..., str]) -> None:
    x = torch.ones(3, requires_grad=True)
    x.sum().backward()  # starts autograd's threads, which a fork of this process would lack
    ((_, outcome),) = run_suite(Request(backend(), cases="^grad/mul$", seconds=60)).outcomes.items()
    assert (outcome.status, outcome.message) == (Status.passed, "")


def test_workers_see_the_environment_of_now(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("LAZYCORE_TEST_OF_WORKERS", "1")
    monkeypatch.chdir(tmp_path)
    results = dict(run_cases(os.getenv, ["LAZYCORE_TEST_OF_WORKERS"], 1, 20))
    assert results == {"LAZYCORE_TEST_OF_WORKERS": "1"}
    assert dict(run_cases(os.path.abspath, ["x"], 1, 20)) == {"x": str(tmp_path / "x")}


def test_workers_are_children_of_one_process_that_has_imported_for_them() -> None:
    assert nursery().prepare(["torch", "no.such.module"]) == {
        "no.such.module": "ModuleNotFoundError: No module named 'no'"
    }
    parents = {result for _, result in run_cases(_parent, range(4), 2, 20, each=1)}
    assert len(parents) == 1
    assert parents != {os.getpid()}


def _parent(_case: int) -> int:
    return os.getppid()


def test_a_worker_that_is_killed_is_a_crash_and_the_next_case_runs() -> None:
    workers = Workers(_kill_or_double)
    assert workers.run(2, 20) == 4
    crash = workers.run(0, 20)
    assert isinstance(crash, Failure)
    assert (crash.kind, crash.message) == ("crash", "SIGKILL")
    assert workers.run(3, 20) == 6
    workers.close()


def _kill_or_double(case: int) -> int:
    if not case:
        os.kill(os.getpid(), signal.SIGKILL)
    return 2 * case


def test_workers_end_with_whoever_wants_them() -> None:
    mother = Nursery()
    ours, theirs = os.pipe()
    with open(os.devnull, "w") as errors:
        pid = mother.fork(time.sleep, ours, errors.fileno())
    os.close(ours)
    os.close(theirs)
    mother._socket.close()
    mother._channel.close()
    assert mother._process.wait(20) == 0
    with pytest.raises(ProcessLookupError):
        _signal_until_gone(pid)


def _signal_until_gone(pid: int) -> None:
    for _ in range(200):
        os.kill(pid, 0)
        time.sleep(0.05)


def test_a_pause_counts_for_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    monkeypatch.setattr(patience.time, "monotonic", lambda: now)
    waiting = patience.Patience()
    for passed in (0.4, 0.4, 90.0, 0.4):
        now += passed
        spent = waiting.spent()
    assert spent == pytest.approx(1.2 + 2 * patience.TICK)
