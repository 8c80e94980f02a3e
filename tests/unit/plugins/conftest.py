"""Plugins written and installed on the spot: a module and a dist-info directory on ``sys.path``."""

from __future__ import annotations

import itertools
import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest

from lazycore.plugins import selection
from lazycore.plugins.discovery import Candidate, installed

Install = Callable[..., Candidate]

SOUND = """
from lazycore_plugin_api import BackendInfo, CompileFailure, Option, Rejected, Supported, hookimpl

@hookimpl
def lazycore_backend_info():
    options = {"level": Option(2), "fast": Option(False), "rate": Option(0.5), "path": Option("x")}
    return BackendInfo(name=NAME, version="3.1", devices=("cpu", "npu:0"), options=options)

@hookimpl
def lazycore_supports(node, target):
    return Supported() if node.op == "aten.relu.default" else Rejected("op", "only relu")

@hookimpl
def lazycore_compile(segments, ctx):
    return [CompileFailure("not today") for _ in segments]
"""

_numbers = itertools.count()


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """``install(name, source)`` makes a distribution ``vendor-<name>`` whose entry point is a module with that source;
    ``extra`` is appended to it, and ``NAME`` is the backend's name."""

    def write(
        name: str, source: str = SOUND, extra: str = "", distribution: str | None = None, attribute: str = ""
    ) -> Candidate:
        distribution = distribution or f"vendor-{name}"
        module = f"{distribution.replace('-', '_')}_{next(_numbers)}"
        root = tmp_path / module
        info = root / f"{distribution.replace('-', '_')}-3.1.dist-info"
        info.mkdir(parents=True)
        (root / f"{module}.py").write_text(f"NAME = {name!r}\n" + source + textwrap.dedent(extra))
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {distribution}\nVersion: 3.1\n")
        (info / "entry_points.txt").write_text(f"[lazycore.backends]\n{name} = {module}{attribute}\n")
        monkeypatch.syspath_prepend(root)
        return installed()[name]

    return write


@pytest.fixture(autouse=True)
def _fresh_selection(monkeypatch: pytest.MonkeyPatch) -> None:
    """No selection and no environment before each test, and none left behind."""
    monkeypatch.delenv(selection.ENVIRONMENT, raising=False)
    monkeypatch.setattr(selection, "_selected", None)
    monkeypatch.setattr(selection, "_listeners", [])
