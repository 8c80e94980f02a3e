"""Options of the whole suite."""

from __future__ import annotations

import os

import pytest

# Tests count what they compile, and none may find what another, or the user, has compiled. Those of the cache turn it
# on, in a directory of their own.
os.environ["LAZYCORE_CACHE"] = "0"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-counts", action="store_true",
        help="write what the programs cost into tests/programs/expected_counts.json instead of checking it",
    )  # fmt: skip
