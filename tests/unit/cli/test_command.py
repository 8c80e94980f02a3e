from __future__ import annotations

import re
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

SOUND = """
from lazycore_plugin_api import BackendInfo, CompileFailure, Option, Rejected, hookimpl

@hookimpl
def lazycore_backend_info():
    return BackendInfo("sound", "2.5", devices=("cpu", "npu"), options={"level": Option(2)})

@hookimpl
def lazycore_supports(node): return Rejected("op", "nothing")

@hookimpl
def lazycore_compile(segments): return [CompileFailure("nothing") for _ in segments]
"""

SHOW = """
import os, lazycore
from lazycore.config import config
from lazycore.plugins import current
print([str(b) for b in current()], config.strict, os.environ.get("LAZYCORE_BACKEND"), os.environ.get("LAZYCORE_STRICT"))
"""


def test_version(cli: Any) -> None:
    done = cli("--version")
    assert done.stdout == f"lazycore {version('lazycore')}\n"
    assert done.returncode == 0


def test_backends_shows_state_version_and_reason(cli: Any, vendor: Any) -> None:
    vendor("sound", SOUND)
    vendor("old", SOUND.replace('"sound", "2.5"', '"old", "2.5", api_version=(0, 9)'))
    vendor("bad", "import no_such_module_at_all")
    done = cli("backends")
    assert done.returncode == 0, done.stderr
    rows = {line.split()[0]: line.strip().split(maxsplit=4)[1:] for line in done.stdout.splitlines()}
    assert rows["sound"] == ["2.5", "ready", "vendor-sound", "devices: cpu (default), npu; options: level=2"]
    assert rows["bad"][:3] == ["3.1", "broken", "vendor-bad"]
    assert rows["bad"][3] == "ModuleNotFoundError: No module named 'no_such_module_at_all'"
    assert rows["old"][:3] == ["3.1", "incompatible", "vendor-old"]
    assert "it is written for version 0.9" in rows["old"][3]
    assert {"reference", "xla", "tvm"} <= rows.keys()
    assert "Traceback" not in done.stdout


def test_verbose_shows_the_traceback(cli: Any, vendor: Any) -> None:
    vendor("bad", "import no_such_module_at_all")
    done = cli("backends", "--verbose")
    assert "Traceback (most recent call last)" in done.stdout
    assert "vendor_bad.py" in done.stdout


def test_run_configures_the_script_and_its_children(cli: Any, vendor: Any, tmp_path: Path) -> None:
    vendor("sound", SOUND)
    (tmp_path / "show.py").write_text(SHOW)
    done = cli("run", "--backend", "sound:npu?level=3", "--strict", "show.py")
    assert done.returncode == 0, done.stderr
    assert done.stdout == "['sound:npu?level=3'] True sound:npu?level=3 1\n"


def test_run_takes_the_environment_where_nothing_is_said(cli: Any, vendor: Any, tmp_path: Path) -> None:
    vendor("sound", SOUND)
    (tmp_path / "show.py").write_text(SHOW)
    done = cli("run", "show.py", LAZYCORE_BACKEND="sound")
    assert done.stdout == "['sound:cpu'] False sound None\n"


def test_options_behind_the_script_are_the_scripts(cli: Any, tmp_path: Path) -> None:
    (tmp_path / "main.py").write_text("import sys; print(sys.argv)")
    done = cli("run", "main.py", "--strict", "--backend", "x", "--help")
    assert done.stdout == "['main.py', '--strict', '--backend', 'x', '--help']\n"


@pytest.mark.parametrize(
    ("selection", "message"),
    [
        ("nobody", "lazycore: no backend named 'nobody' is installed; installed: bad, reference, tvm, xla"),
        ("tvm:gpu", "lazycore: backend 'tvm' has no device 'gpu'; its devices are: "),
        ("bad", "lazycore: backend 'bad' (vendor-bad 3.1, vendor_bad) is broken: ValueError: no"),
    ],
)
def test_a_selection_that_cannot_be_is_one_line_and_the_script_does_not_start(
    cli: Any, vendor: Any, tmp_path: Path, selection: str, message: str
) -> None:
    vendor("bad", "raise ValueError('no')")
    (tmp_path / "main.py").write_text("print('started')")
    done = cli("run", "--backend", selection, "main.py")
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith(message)
    assert len(done.stderr.splitlines()) == 1


def test_a_missing_script_is_a_usage_error(cli: Any) -> None:
    done = cli("run", "nowhere.py")
    assert done.returncode == 2
    assert "nowhere.py" in done.stderr


def test_the_summary_comes_last_on_stderr_after_an_error(cli: Any, tmp_path: Path) -> None:
    (tmp_path / "main.py").write_text(
        "import atexit, sys\natexit.register(lambda: print('bye', file=sys.stderr))\n1 // 0"
    )
    done = cli("run", "main.py")
    assert done.returncode == 1
    lines = done.stderr.splitlines()
    assert lines[0] == "Traceback (most recent call last):"
    assert "main.py" in lines[1]
    assert lines[-3:-1] == ["ZeroDivisionError: integer division or modulo by zero", "bye"]
    assert re.fullmatch(r"lazycore: no op ran on the lazycore device(; peak memory: [1-9]\d* MiB)?", lines[-1])


def test_a_forked_child_prints_no_summary_of_its_own(cli: Any, tmp_path: Path) -> None:
    (tmp_path / "main.py").write_text("import os, sys\npid = os.fork()\nif pid == 0: sys.exit(0)\nos.waitpid(pid, 0)")
    done = cli("run", "main.py")
    assert done.stderr.count("lazycore: no op ran") == 1


def test_the_summary_tells_of_a_program_on_the_device(cli: Any, tmp_path: Path) -> None:
    (tmp_path / "main.py").write_text("import torch\nprint((torch.ones(3, device='lazycore') * 2).sum().item())")
    done = cli("run", "--backend", "reference", "main.py")
    assert done.returncode == 0, done.stderr
    assert done.stdout == "6.0\n"
    assert done.stderr.splitlines()[-1].startswith("lazycore: reference:cpu: ")
    assert "eager: nothing" in done.stderr
