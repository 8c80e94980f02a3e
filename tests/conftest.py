"""Options of the whole suite."""

from __future__ import annotations

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-counts", action="store_true",
        help="write what the programs cost into tests/programs/expected_counts.json instead of checking it",
    )  # fmt: skip
