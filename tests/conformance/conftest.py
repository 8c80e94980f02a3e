"""A backend that the test writes and installs."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from wrongkit.installing import install

_numbers = itertools.count()


@pytest.fixture
def backend(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    """``backend(fault, extra)`` installs one and returns its name."""

    def make(fault: str = "", extra: str = "") -> str:
        # Loaded plugins are remembered by module, so that no two tests may share a name.
        name = f"kit{next(_numbers)}"
        monkeypatch.syspath_prepend(tmp_path / name)
        install(tmp_path / name, name, fault, extra)
        return name

    return make
