"""Fixtures of the lowering tests: each installed in-tree backend, opened once per run."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from lowering.backends import Backend, open_backend

BACKENDS = ("reference", "xla", "tvm")


def _installed(name: str) -> bool:
    package = f"lazycore_{name}"
    return importlib.util.find_spec(package) is not None and importlib.util.find_spec(f"{package}.plugin") is not None


@pytest.fixture(scope="session", params=[name for name in BACKENDS if _installed(name)])
def backend(request: pytest.FixtureRequest) -> Iterator[Backend]:
    """An opened backend, driven through its hooks alone: no torch device is involved."""
    opened = open_backend(request.param)
    yield opened
    opened.session.close()
