"""Exporting on a backend, and the models that several tests export."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from lazycore_loader import Program, load
from torch import nn

import lazycore

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture(params=("reference", "xla"))
def backend(request: pytest.FixtureRequest) -> str:
    """The backend that the program is exported for."""
    return str(request.param)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where to export to."""
    return tmp_path / "program.lcp"


@pytest.fixture
def roundtrip(path: Path) -> Callable[..., Program]:
    """``roundtrip(module, args, …)`` is the program, exported and loaded."""

    def run(module: nn.Module, args: Any, backend: str = "reference", **options: Any) -> Program:
        torch.manual_seed(0)
        lazycore.export(module, args, path, backend=backend, **options)
        return load(path)

    return run


@pytest.fixture
def linear() -> nn.Module:
    """A layer of 3 to 2, always the same."""
    torch.manual_seed(1)
    return nn.Linear(3, 2)
