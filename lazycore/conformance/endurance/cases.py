"""``endurance/…``: memory, failing compiles, a broken cache, threads, processes, a kill in the middle of a write."""

from __future__ import annotations

import gc
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path

import torch
from lazycore_plugin_api import CompileFailure, Executable, Segment

import lazycore
from lazycore.conformance.case import Case, Failed, Outcome, Skipped
from lazycore.conformance.context import Context
from lazycore.conformance.contract import claimed_samples
from lazycore.conformance.graph.check import compiled
from lazycore.conformance.patience import TICK, Patience
from lazycore.conformance.placement import placement_of

__all__ = ["cases", "run"]

_SECONDS = 100.0
_STORING = 20.0
_ROUNDS = 10_000
_WARM, _LOOK = 100, 500
_GROWTH = 4 << 20
"""Bytes that a process may grow by in all rounds, some 400 in each: allocators' slack."""


def cases() -> list[Case]:
    """One per scene."""
    return [Case(5, f"endurance/{name}") for name in _CHECKS]


def run(case: Case, context: Context) -> Outcome:
    """Run the check of that name. Raises Failed or Skipped."""
    _CHECKS[case.name](context)
    return Outcome(samples=1)


def _resident() -> int:
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text().split()[1]) if Path("/proc/self/statm").exists() else 0
    return pages * os.sysconf("SC_PAGE_SIZE") or resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def _flat(step: Callable[[], object]) -> None:
    for _ in range(_WARM):
        step()
    before = _resident()
    for done in range(_LOOK, _ROUNDS + 1, _LOOK):
        for _ in range(_LOOK):
            step()
        grown = _resident() - before
        if grown > _GROWTH:  # at once, before a leak takes the machine's memory
            raise Failed(f"{done} runs of the same program made the process grow by {grown >> 10} KiB")


def _memory(context: Context) -> None:
    sample = claimed_samples(context, 1)[0]
    executable = compiled(context.backend, sample.segment)
    session = context.backend.session

    def step() -> None:
        for buffer in executable.run([session.upload(a.copy()) for a in sample.arrays]):
            buffer.to_host()

    _flat(step)


def _training_memory(context: Context) -> None:
    placement_of(context.selection, lambda: context.foreign)
    x, w = (torch.ones(64, 64, device="lazycore", requires_grad=flag) for flag in (False, True))

    def step() -> None:
        loss = (x @ w).tanh().sum()
        loss.backward()  # type: ignore[no-untyped-call]
        w.grad = None
        loss.item()

    _flat(step)


def _failing_compile(context: Context) -> None:
    placement = placement_of(context.selection, lambda: context.foreign)
    backend = placement.backend
    real = backend.compile

    def failing(segments: Sequence[Segment], portable: bool = False) -> list[Executable | CompileFailure]:  # noqa: ARG001
        return [CompileFailure("injected") for _ in segments]

    x = torch.linspace(-1, 1, 12, device="lazycore")
    backend.compile = failing  # type: ignore[method-assign]
    try:
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            result = (x * 3 + 1).cpu()
    finally:
        backend.compile = real  # type: ignore[method-assign]
    right = torch.linspace(-1, 1, 12) * 3 + 1
    if not torch.equal(result, right):
        raise Failed(f"after a failed compile the result is {result.tolist()}, not {right.tolist()}")
    if not any("injected" in str(w.message) for w in told):
        raise Failed("a failed compile was not told of")
    again = (x * 5 - 1).cpu()
    if not torch.allclose(again, torch.linspace(-1, 1, 12) * 5 - 1):
        raise Failed(f"after a failed compile the next program gives {again.tolist()}")


def _scene(context: Context, scene: str, folder: Path) -> str:
    return _printed(_started(scene, context, folder), scene)


def _started(scene: str, context: Context, folder: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        _command(scene, context), env=_settings(folder), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def _printed(process: subprocess.Popen[str], scene: str) -> str:
    """What it prints. Raises Failed where it does not end in time, or not with 0."""
    patience = Patience()
    while True:
        try:
            out, errors = process.communicate(timeout=TICK)
            break
        except subprocess.TimeoutExpired:
            if patience.spent() > _SECONDS:
                process.kill()
                raise Failed(f"a process that runs {scene!r} did not end in {_SECONDS:.0f} s") from None
    if process.returncode:
        raise Failed(f"a process that runs {scene!r} ended with {process.returncode}: {errors[-600:]}")
    return out.strip()


def _command(scene: str, context: Context) -> list[str]:
    return [sys.executable, "-m", "lazycore.conformance.endurance.scenes", scene, context.selection]


def _settings(folder: Path) -> dict[str, str]:
    path = os.pathsep.join(sys.path)
    return {**os.environ, "LAZYCORE_CACHE": "1", "LAZYCORE_CACHE_DIR": str(folder), "PYTHONPATH": path,
            "LAZYCORE_RNG": "cpu", "OMP_NUM_THREADS": "1"}  # fmt: skip


def _files(folder: Path) -> list[Path]:
    return sorted(p for p in folder.rglob("*") if p.is_file())


def _in_folder(check: Callable[[Context, Path], None]) -> Callable[[Context], None]:
    def checked(context: Context) -> None:
        with tempfile.TemporaryDirectory() as folder:
            check(context, Path(folder))

    return checked


def _broken_cache(context: Context, folder: Path) -> None:
    first = _scene(context, "train", folder).split()
    stored = [p for p in _files(folder) if p.stat().st_size > 64]
    if not stored:
        raise Skipped("nothing of it is stored")
    for number, path in enumerate(stored):
        content = path.read_bytes()
        path.write_bytes(content[: len(content) // 2] if number % 2 else b"\0" * len(content))
    second = _scene(context, "train", folder).split()
    third = _scene(context, "train", folder).split()
    if not first[0] == second[0] == third[0]:
        raise Failed(f"losses {first[0]}, with a broken cache {second[0]}, afterwards {third[0]}")
    if int(third[1]) > int(first[1]):
        raise Failed("a broken cache was not mended")


def _two_processes(context: Context, folder: Path) -> None:
    started = [_started("train", context, folder) for _ in range(2)]
    try:
        losses = [_printed(process, "train").split()[:1] for process in started]
    finally:
        for process in started:
            process.kill()
    if losses[0] != losses[1] or not losses[0]:
        raise Failed(f"two processes on one cache end with {losses}")


def _killed(context: Context, folder: Path) -> None:
    with _started("forever", context, folder) as process:
        assert process.stdout is not None
        process.stdout.readline()
        patience = Patience()
        while len(_files(folder)) < 3 and patience.spent() < _STORING and process.poll() is None:
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
    if process.returncode != -signal.SIGKILL:
        raise Failed(f"the process that was to be killed ended by itself with {process.returncode}")
    first, second = (_scene(context, "train", folder).split()[0] for _ in range(2))
    if first != second:
        raise Failed(f"on the cache of a killed process the losses are {first} and {second}")


def _two_threads(context: Context, folder: Path) -> None:
    together, apart = (_scene(context, scene, folder) for scene in ("threads", "alone"))
    if together != apart:
        raise Failed(f"two threads end with losses {together}, one after the other with {apart}")


def _many_programs(context: Context) -> None:
    placement_of(context.selection, lambda: context.foreign)
    x = torch.ones(7, device="lazycore")
    for number in range(60):
        (result,) = {float(v) for v in (x[: number % 7 + 1] * number + 0.5).cpu()}
        if result != number + 0.5:
            raise Failed(f"program {number} gives {result}, not {number + 0.5}")
    lazycore.sync()


_CHECKS: dict[str, Callable[[Context], None]] = {
    "memory-of-runs": _memory,
    "memory-of-training": _training_memory,
    "failing-compile": _failing_compile,
    "many-programs": _many_programs,
    "broken-cache": _in_folder(_broken_cache),
    "two-processes": _in_folder(_two_processes),
    "kill-while-storing": _in_folder(_killed),
    "two-threads": _in_folder(_two_threads),
}
