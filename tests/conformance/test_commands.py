"""The command line and pytest's options."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import lazycore_pytest
from lazycore.cli.main import app


def _run(*arguments: str) -> Any:
    return CliRunner().invoke(app, ["conformance", *arguments])


def test_exit_codes_and_reports(backend: Callable[..., str], tmp_path: Path) -> None:
    name = backend("claims the unknown")
    right = ("--backend", name, "--cases", "^contract/discovery$", "--report", str(tmp_path / "one"))
    assert _run(*right).exit_code == 0
    wrong = _run("--backend", name, "--cases", "^contract/unknown", "--report", str(tmp_path / "two"),
                 "--compare", str(tmp_path / "one" / "report.json"))  # fmt: skip
    assert wrong.exit_code == 1
    (command,) = re.findall(r"^ +lazycore (conformance --backend .*)$", wrong.output, re.MULTILINE)
    again = CliRunner().invoke(app, shlex.split(command))
    assert again.exit_code == 1
    assert "nobody.has_this.default" in again.output
    assert json.loads((tmp_path / "two" / "report.json").read_text())["passed"] is False
    assert (tmp_path / "two" / "junit.xml").exists()
    assert "contract/discovery" in (tmp_path / "two" / "scorecard.html").read_text()  # gone since


@pytest.mark.parametrize("arguments", [("--cases", "["), ("--cases", "^no/such$"), ("--compare", __file__)])
def test_nothing_to_run(arguments: tuple[str, ...]) -> None:
    assert _run("--backend", "reference", *arguments).exit_code == 2


def test_a_backend_that_is_not_there() -> None:
    result = _run("--backend", "nobody", "--level", "0", "--cases", "discovery")
    assert result.exit_code == 1
    assert "no backend named 'nobody' is installed" in result.output


def _pytest(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "lazycore_pytest", "-p", "no:cacheprovider"]
    return subprocess.run(
        [*command, *arguments], capture_output=True, text=True, cwd=Path(__file__).parents[2], check=False
    )


def test_the_cases_are_pytests_too() -> None:
    ended = _pytest("--pyargs", "lazycore.conformance", "--lazycore-backend", "reference", "--lazycore-level", "0",
                    "-k", "discovery or version or constants")  # fmt: skip
    assert ended.returncode == 0, ended.stdout
    assert "3 passed, 1 skipped" in ended.stdout


class _Group:
    def __init__(self, taken: set[str]) -> None:
        self.taken = taken

    def addoption(self, name: str, **_: object) -> None:
        if name in self.taken:
            raise ValueError(f"option names {{{name!r}}} already added")
        self.taken.add(name)


class _Parser:
    def __init__(self, *taken: str) -> None:
        self.group = _Group(set(taken))

    def getgroup(self, *_: str) -> _Group:
        return self.group


@pytest.mark.parametrize("taken", [(), ("--backend",)])
def test_the_short_option_is_anybodys(taken: tuple[str, ...]) -> None:
    parser = _Parser(*taken)
    lazycore_pytest.pytest_addoption(parser)
    assert {"--backend", "--lazycore-backend", "--lazycore-level"} <= parser.group.taken


def test_the_options_need_no_torch() -> None:
    code = "import sys, lazycore_pytest; sys.exit('torch' in sys.modules or 'lazycore' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], cwd=Path(__file__).parents[2], check=False).returncode == 0
