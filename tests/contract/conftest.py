"""The device with a vendor's plugin that the test writes."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import torch

import lazycore
from lazycore.frontend.local import leave_root, tree

sys.path.insert(0, str(Path(__file__).parent))

from vendorkit.source import SOURCE
from vendorkit.vendor import Vendor, install

_numbers = itertools.count()


@pytest.fixture
def vendor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Vendor]:
    """``vendor(extra, name)`` installs the kit's plugin with ``extra`` appended; ``source`` replaces it."""

    def make(extra: str = "", name: str = "acme", source: str = SOURCE) -> Vendor:
        # Loaded plugins are remembered by module name, so that it must be like no other test's.
        module = f"contract_{name}_{next(_numbers)}"
        monkeypatch.syspath_prepend(tmp_path / module)
        return install(tmp_path / module, module, name, source, extra)

    return make


@pytest.fixture(autouse=True)
def _fresh() -> Iterator[None]:
    """Nothing recorded and counters at zero before the test, another selection behind it."""
    with lazycore.use_backend("reference"):
        lazycore.sync()
        tree.clear()
        leave_root()
        lazycore.reset_metrics()
        torch.manual_seed(0)
        yield
        lazycore.sync()
