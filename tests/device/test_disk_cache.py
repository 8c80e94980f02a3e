"""Processes that follow one another: the second compiles nothing, and what is on disk cannot make it wrong."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

PROGRAM = """
import json, sys
import torch
from torch import nn

import lazycore

torch.manual_seed(int(sys.argv[1]))
model = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Dropout(0.2), nn.Linear(16, 3)).to("lazycore")
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
losses = []
for _ in range(4):
    x, y = torch.randn(8, 6).to("lazycore"), torch.randint(0, 3, (8,)).to("lazycore")
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()
    losses.append(loss.item())
counts = {name: count for name, count in lazycore.metrics().items() if name != "fallbacks"}
print(json.dumps({"losses": losses, **counts}))
"""


LINKED = pytest.param(
    "tvm",
    marks=pytest.mark.skipif(
        not any(map(shutil.which, ("g++", "gcc", "clang++", "clang", "c++", "cc"))),
        reason="storing TVM's programs takes a C compiler, which links them",
    ),
)


class Session:
    """``run()`` is a process that trains, with the cache in ``tmp_path``."""

    def __init__(self, tmp_path: Path, backend: str) -> None:
        self.path = tmp_path
        self.cache = tmp_path / "cache"
        self.environment = os.environ | {
            "LAZYCORE_CACHE": "1", "LAZYCORE_CACHE_DIR": str(self.cache), "LAZYCORE_BACKEND": backend,
            "LAZYCORE_PLACEMENT": "0",
        }  # fmt: skip

    def start(self, file: str = "train.py", seed: int = 0, source: str = PROGRAM) -> subprocess.Popen[str]:
        script = self.path / file
        script.parent.mkdir(exist_ok=True)
        script.write_text(source)
        return subprocess.Popen(
            [sys.executable, str(script), str(seed)], env=self.environment, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip

    def run(self, file: str = "train.py", seed: int = 0, source: str = PROGRAM) -> dict[str, Any]:
        return result(self.start(file, seed, source))

    def files(self) -> list[Path]:
        return sorted(self.cache.rglob("*.artifact"))


def result(process: subprocess.Popen[str]) -> dict[str, Any]:
    out, errors = process.communicate(timeout=240)
    assert process.returncode == 0, errors
    return {**json.loads(out), "errors": errors}


@pytest.fixture
def session(tmp_path: Path, backend: str) -> Session:
    return Session(tmp_path, backend)


@pytest.mark.parametrize("backend", ["reference", "xla", LINKED], indirect=True)
def test_the_second_process_compiles_nothing(session: Session) -> None:
    first = session.run()
    assert first["compiles"] > 0
    assert first["cache_loads"] == 0
    assert len(session.files()) == first["compiles"]
    second = session.run()
    assert (second["compiles"], second["cache_loads"]) == (0, first["compiles"])
    assert second["losses"] == first["losses"]
    # Lines, places and seeds are another program's, the computation is not.
    other = session.run("elsewhere/other.py", seed=1, source="# a line more\n" + PROGRAM)
    assert (other["compiles"], other["cache_loads"]) == (0, first["compiles"])
    assert other["losses"] != first["losses"]


@pytest.mark.slow
def test_damaged_files_are_compiled_anew(session: Session) -> None:
    first = session.run()
    damaged, truncated = session.files()[:2]
    damaged.write_bytes(damaged.read_bytes().replace(b"aten", b"atem", 1))
    truncated.write_bytes(truncated.read_bytes()[:100])
    second = session.run()
    assert (second["compiles"], second["cache_loads"]) == (2, first["compiles"] - 2)
    assert second["losses"] == first["losses"]
    assert second["errors"].count("is dropped and compiled anew") == 2
    assert session.run()["compiles"] == 0


@pytest.mark.slow
@pytest.mark.parametrize("backend", ["reference", "xla"], indirect=True)
def test_processes_at_once_and_killed_ones_leave_a_sound_cache(session: Session) -> None:
    for delay in (3.0, 3.5, 4.0, 5.0):
        killed = session.start()
        time.sleep(delay)
        killed.send_signal(signal.SIGKILL)
        killed.communicate()
    crowd = [result(process) for process in [session.start(f"{i}/train.py") for i in range(4)]]
    assert len({tuple(run["losses"]) for run in crowd}) == 1
    assert not any("dropped" in run["errors"] for run in crowd)
    last = session.run()
    assert last["compiles"] == 0
    assert last["losses"] == crowd[0]["losses"]


@pytest.mark.slow
def test_the_cache_may_be_off_or_gone(session: Session) -> None:
    session.environment["LAZYCORE_CACHE"] = "0"
    assert session.run()["compiles"] > 0
    assert not session.cache.exists()
    session.environment["LAZYCORE_CACHE"] = "1"
    session.cache.write_text("a file where the directory should be")
    run = session.run()
    assert run["compiles"] > 0
    assert "the cache of compiled programs cannot be written" in run["errors"]
    assert session.cache.read_text() == "a file where the directory should be"
