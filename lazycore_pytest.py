"""pytest's options of the conformance suite: ``pytest --pyargs lazycore.conformance --lazycore-backend NAME``.

A module by itself, as every pytest of the environment imports it: it must cost nothing and need no torch.
"""

from __future__ import annotations

import contextlib
from typing import Any

__all__ = ["pytest_addoption"]


def pytest_addoption(parser: Any) -> None:
    """Add the options; ``--backend`` only where no other plugin has taken it."""
    group = parser.getgroup("lazycore", "lazycore's conformance suite")
    options = {
        "dest": "lazycore_backend",
        "metavar": "NAME",
        "help": "the backend to prove",
    }
    group.addoption("--lazycore-backend", **options)
    with contextlib.suppress(ValueError):
        group.addoption("--backend", **options)
    group.addoption("--lazycore-level", type=int, default=5, metavar="N", help="up to which level (0 to 5)")
    group.addoption("--lazycore-sample", action="store_true", help="a fixed share of the cases")
    group.addoption("--lazycore-timeout", type=float, default=120.0, metavar="S", help="seconds that a case may take")
