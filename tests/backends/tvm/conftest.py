"""Fixtures of the tests that only TVM's backend has."""

from __future__ import annotations

import pytest
from lowering.backends import Backend, open_backend


@pytest.fixture(scope="session")
def tvm() -> Backend:
    """The backend, opened."""
    return open_backend("tvm")


@pytest.fixture(scope="session")
def reference() -> Backend:
    """The backend whose results count."""
    return open_backend("reference")
