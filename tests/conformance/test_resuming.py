"""A run that is killed goes on where it was, and ends with the report of a whole one."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from lazycore.cli.main import app
from lazycore.conformance import console
from lazycore.conformance.case import Case, Outcome, Status
from lazycore.conformance.journal import Journal, NothingToResume
from lazycore.conformance.survey import Request

VERSIONS = {"torch": "2", "lazycore": "1"}
SLOW = """
import time
quick_run = Program.run
def run(self, inputs):
    time.sleep(0.2)
    return quick_run(self, inputs)
Program.run = run
"""
FIRST, SECOND = Case(0, "contract/session"), Case(1, "graph/aten.add.Tensor/float32")


def _run(*arguments: str) -> Any:
    return CliRunner().invoke(app, ["conformance", *arguments])


def test_a_killed_run_goes_on(backend: Callable[..., str], tmp_path: Path) -> None:
    name, folder = backend("", SLOW), tmp_path / "report"
    journal = folder / "cases.jsonl"
    command = ["conformance", "--backend", name, "--level", "0", "-n", "1", "--report", str(folder)]
    code = f"import sys; sys.path[:] = {sys.path!r}; from lazycore.cli.main import app; app({command!r})"
    process = subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.DEVNULL)
    while not journal.exists() or journal.read_text().count("\n") < 4:
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    with journal.open("a") as file:
        file.write('{"id": "contract/cut')  # as a kill in the middle of a write leaves it
    before = [json.loads(line) for line in journal.read_text().splitlines()[1:-1]]
    result = _run("--resume", str(folder), "-n", "1")
    assert result.exit_code == 0, result.output
    report = json.loads((folder / "report.json").read_text())
    assert report["passed_level"] == 0
    assert report["request"] == {"backend": name, "level": 0, "sample": False, "cases": ""}
    found = {case["id"]: case for case in report["cases"]}
    assert len(found) == sum(report["counts"].values()) > len(before) >= 3
    assert all(found[line["id"]]["seconds"] == line["seconds"] for line in before)  # not run again
    assert not journal.exists()
    assert _run("--resume", str(folder)).exit_code == 2  # it is through


def test_an_interrupted_run_says_how_to_go_on(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(console, "run_suite", interrupted)
    result = _run("--backend", "reference", "--report", str(tmp_path))
    assert result.exit_code == 130
    assert f"lazycore conformance --resume {tmp_path}" in result.output


@pytest.mark.parametrize("arguments", [(), ("--backend", "reference", "--resume", ".")])
def test_a_run_is_begun_or_resumed(arguments: tuple[str, ...]) -> None:
    result = _run(*arguments)
    assert result.exit_code == 2
    assert "--resume" in result.output


def test_a_journal_goes_there_and_back(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    journal.begin(Request("acme", 3, True, "add"), VERSIONS)
    with journal:
        journal.add(FIRST, Outcome(Status.skipped, "why"))
        journal.add(SECOND, Outcome(samples=2, claimed={"a b"}, tolerances={"a b": (0.5, 0.0)}))
    again = Journal(tmp_path)
    assert again.request(4, 9.0) == Request("acme", 3, True, "add", 4, 9.0)
    again.resume(VERSIONS)
    with again:
        assert again.done == {
            FIRST: Outcome(Status.skipped, "why"),
            SECOND: Outcome(samples=2, claimed={"a b"}, tolerances={"a b": (0.5, 0.0)}),
        }


def test_what_other_versions_found_is_not_gone_on_with(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    journal.begin(Request("acme"), VERSIONS)
    with journal, pytest.raises(NothingToResume, match=r"was written with \{'torch': '2'\}, this is \{'torch': '3'\}"):
        Journal(tmp_path).resume({"torch": "3", "lazycore": "1"})


@pytest.mark.parametrize("content", [None, "nonsense\n", '{"schema": 99}\n', "", "[1]\n"])
def test_a_folder_without_a_run_says_so(tmp_path: Path, content: str | None) -> None:
    if content is not None:
        (tmp_path / "cases.jsonl").write_text(content)
    with pytest.raises(NothingToResume):
        Journal(tmp_path).request(1, 1.0)
    assert os.listdir(tmp_path) == ([] if content is None else ["cases.jsonl"])
