"""Loops on several threads: as many as asked for, none left behind, and none waited for that a fork has lost."""

from __future__ import annotations

import os
import subprocess
import sys
from textwrap import dedent

import pytest

pytest.importorskip("tvm")

from lazycore_tvm import threads

PROGRAM = """
    import os, sys, threading
    import numpy as np
    from lazycore_plugin_api import CompileContext, OpenContext, Target, from_text
    from lazycore_tvm import plugin

    target = Target("tvm", "cpu")
    session = plugin.lazycore_open(OpenContext(target))
    size = 1 << 20
    text = f"segment(%0: f32[{size}]) {{\\n  %1: f32[{size}] = aten.exp.default(%0)\\n  return %1\\n}}"
    (executable,) = plugin.lazycore_compile([from_text(text)], CompileContext(session, target))
    ones = session.upload(np.zeros(size, np.float32))

    def run():
        result = executable.run([ones])[0].to_host()
        assert (result == 1).all()

    def tasks():
        return len(os.listdir("/proc/self/task"))
"""
THREADS = """
    run()
    before = tasks()
    for _ in range(20):
        caller = threading.Thread(target=run)
        caller.start()
        caller.join()
    print(os.environ["TVM_NUM_THREADS"], tasks() <= before + 1)
"""
FORK = """
    run()
    child = os.fork()
    run()
    if child == 0:
        sys.exit(7)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


def _run(program: str, **environment: str) -> str:
    command = [sys.executable, "-W", "ignore", "-c", dedent(PROGRAM) + dedent(program)]
    rest = {name: value for name, value in os.environ.items() if not name.startswith(("TVM_", "OMP_"))}
    done = subprocess.run(command, env={**rest, **environment}, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.skipif(not os.path.exists("/proc/self/task"), reason="the system does not tell its threads")
def test_callers_leave_no_threads_behind() -> None:
    assert _run(THREADS, OMP_NUM_THREADS="2") == "2 True"


@pytest.mark.parametrize(
    ("openmp", "own", "count"), [("2,1", None, "2"), ("3", "4", "4"), ("many", None, None), ("0", None, None)]
)
def test_numbers_of_threads(openmp: str, own: str | None, count: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", openmp)
    monkeypatch.delenv("TVM_NUM_THREADS", raising=False)
    if own:
        monkeypatch.setenv("TVM_NUM_THREADS", own)
    threads.set_defaults()
    assert os.environ["TVM_NUM_THREADS"] == (count or str(len(os.sched_getaffinity(0))))


def test_a_forked_process_runs_and_ends() -> None:
    assert _run(FORK, TVM_NUM_THREADS="2") == "7"
