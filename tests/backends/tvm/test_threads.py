"""Loops on several threads: as many as asked for, none left behind, and none waited for that a fork has lost."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest
from lazycore_plugin_api import BackendError

pytest.importorskip("tvm")

from lazycore_tvm import threads

PROGRAM = """
    import os, sys, threading, time
    import numpy as np
    from lazycore_plugin_api import CompileContext, OpenContext, Target, from_text
    from lazycore_tvm import plugin, pool

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
    time.sleep(PAUSE)
    child = os.fork()
    run()
    if child == 0:
        sys.exit(7 if tasks() == 2 else 8)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
CROWD = """
    callers = [threading.Thread(target=lambda: [run() for _ in range(20)]) for _ in range(4)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    print(sum(thread.name.startswith("lazycore-tvm") for thread in threading.enumerate()))
"""
FAILURE = """
    from lazycore_tvm.tvm_runtime import COMPILE_LOCK, target, tvm

    tir = tvm.tirx
    place, data = tir.Var("i", "int32"), tir.decl_buffer((4,), "float32", "data")
    holds = tir.AssertStmt(place < WORKS, tvm.ir.StringImm("ValueError"), [tvm.ir.StringImm("a task's own")])
    body = tir.SeqStmt([holds, tir.BufferStore(data, tir.const(1, "float32"), [place])])
    function = tir.PrimFunc([data], tir.For(place, tir.const(0, "int32"), tir.const(4, "int32"), 1, body))
    run()
    function = function.with_attr("global_symbol", "main")
    with COMPILE_LOCK, pool.POOL.takes_loops():
        main = tvm.compile(function, target(), tir_pipeline="lazycore_tvm")["main"]
    for _ in range(2):
        try:
            main(np.zeros(4, np.float32))
        except Exception as error:
            print(type(error).__name__, error)
    run()
"""
OTHERS = """
    from lazycore_tvm.tvm_runtime import target, tvm

    tir = tvm.tirx
    place, data = tir.Var("i", "int32"), tir.decl_buffer((4,), "float32", "data")
    body = tir.BufferStore(data, tir.const(1, "float32"), [place])
    function = tir.PrimFunc([data], tir.For(place, tir.const(0, "int32"), tir.const(4, "int32"), 1, body))
    run()
    ours = tasks()
    main = tvm.compile(function.with_attr("global_symbol", "main"), target(), tir_pipeline="lazycore_tvm")["main"]
    array = tvm.runtime.tensor(np.zeros(4, np.float32))
    main(array)
    print(array.numpy().tolist(), tasks() > ours)
"""
STORE = """
    open(os.environ["STORED"], "wb").write(executable.serialize())
"""
TOGETHER = """
    run()
    time.sleep(0.1)
    (worker,) = [t.native_id for t in threading.enumerate() if t.name.startswith("lazycore-tvm")]
    own, other = both = sorted(os.sched_getaffinity(0))[:2]
    os.sched_setaffinity(0, {own})
    os.sched_setaffinity(worker, {own})
    os.sched_setaffinity(worker, both)
    for _ in range(5):
        run()
    processor = open(f"/proc/self/task/{worker}/stat").read().rsplit(")", 1)[1].split()[36]
    print(int(processor) == other, os.sched_getaffinity(worker) == set(both))
"""
STOPPED = """
    run()
    pool.POOL.stop()
    run()
    print(threading.active_count())
"""
LATE = """
    run()
    pool.POOL._functions["stop"]()
    late = pool.POOL._thread(9)
    late.join(20)
    print(late.is_alive())
"""


def _run(program: str, begin: str = PROGRAM, **environment: str) -> str:
    command = [sys.executable, "-W", "ignore", "-c", dedent(begin) + dedent(program)]
    rest = {name: value for name, value in os.environ.items() if not name.startswith(("TVM_", "OMP_"))}
    done = subprocess.run(
        command, env={**rest, **environment}, capture_output=True, text=True, timeout=200, check=False
    )
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


@pytest.mark.parametrize("text", ["0", "-1", "two", ""])
def test_a_number_that_is_none_is_refused(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TVM_NUM_THREADS", text)
    with pytest.raises(BackendError, match="TVM_NUM_THREADS="):
        threads.count()


@pytest.mark.skipif(not os.path.exists("/proc/self/task"), reason="the system does not tell its threads")
@pytest.mark.parametrize("pause", ["0", "0.1"], ids=["a worker awake", "a worker asleep"])
def test_a_forked_process_has_threads_of_its_own_and_ends(pause: str) -> None:
    assert _run(FORK.replace("PAUSE", pause), TVM_NUM_THREADS="2", OPENBLAS_NUM_THREADS="1") == "7"


@pytest.mark.skipif(not os.path.exists("/proc/self/task"), reason="the system does not tell its threads")
def test_a_process_that_has_only_loaded_a_program_forks_as_well(tmp_path: Path) -> None:
    """TVM's own threads, which a loaded program would start if nobody else took its loops, outlive no fork."""
    here = {"STORED": str(tmp_path / "program"), "TVM_NUM_THREADS": "2", "OPENBLAS_NUM_THREADS": "1"}
    _run(STORE, **here)
    begin, compile_it, end = PROGRAM.partition("(executable,) = plugin.lazycore_compile")
    loads = "from lazycore_tvm.executable import load_executable; executable = load_executable(open("
    loads += 'os.environ["STORED"], "rb").read())  #'
    assert compile_it
    assert _run(FORK.replace("PAUSE", "0"), begin + loads + end, **here) == "7"


@pytest.mark.skipif(not os.path.exists("/proc/self/task"), reason="the system does not tell its threads")
def test_loops_of_others_programs_are_tvms_own() -> None:
    assert _run(OTHERS, TVM_NUM_THREADS="2") == "[1.0, 1.0, 1.0, 1.0] True"


def test_callers_share_the_threads() -> None:
    assert _run(CROWD, TVM_NUM_THREADS="3") == "2"


@pytest.mark.skipif(
    not os.path.exists("/proc/self/task") or len(os.sched_getaffinity(0)) < 2, reason="needs two processors on Linux"
)
def test_a_worker_leaves_the_callers_processor() -> None:
    assert _run(TOGETHER, TVM_NUM_THREADS="2") == "True True"


def test_a_worker_that_begins_after_the_end_ends() -> None:
    assert _run(LATE, TVM_NUM_THREADS="2") == "False"


def test_without_threads_the_caller_computes() -> None:
    assert _run(STOPPED, TVM_NUM_THREADS="3") == "1"


@pytest.mark.parametrize(
    ("works", "error"), [("0", "ValueError a task's own"), ("2", "RuntimeError a task of a parallel loop fails")]
)
def test_a_task_that_fails_raises_in_the_caller(works: str, error: str) -> None:
    """Of four, all or the second thread's two."""
    assert _run(FAILURE.replace("WORKS", works), TVM_NUM_THREADS="2").splitlines() == [error] * 2
