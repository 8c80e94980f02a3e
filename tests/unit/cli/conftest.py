"""The command in a process of its own, with plugins installed on the spot."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

Cli = Callable[..., "subprocess.CompletedProcess[str]"]

# Without colours and at a width of its own, whatever terminal the tests run in.
PLAIN = {"NO_COLOR": "1", "TERM": "dumb", "COLUMNS": "200"}


@pytest.fixture
def cli(tmp_path: Path) -> Cli:
    """``cli("run", "x.py")`` is ``python -m lazycore run x.py`` in ``tmp_path``."""

    def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        kept = "LAZYCORE_CACHE"
        inherited = {k: v for k, v in os.environ.items() if k == kept or not k.startswith("LAZYCORE_")}
        return subprocess.run(
            [sys.executable, "-m", "lazycore", *arguments], cwd=tmp_path, env=inherited | PLAIN | environment,
            capture_output=True, text=True, check=False, timeout=120,
        )  # fmt: skip

    return run


@pytest.fixture
def vendor(tmp_path: Path) -> Callable[[str, str], None]:
    """``vendor(name, source)`` installs a backend into ``tmp_path``, where ``cli`` finds it."""

    def install(name: str, source: str) -> None:
        info = tmp_path / f"vendor_{name}-3.1.dist-info"
        info.mkdir()
        (tmp_path / f"vendor_{name}.py").write_text(source)
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: vendor-{name}\nVersion: 3.1\n")
        (info / "entry_points.txt").write_text(f"[lazycore.backends]\n{name} = vendor_{name}\n")

    return install
