"""The device on the reference backend, with counters at zero, and a way to count what rounds of a program compile."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
import torch

import lazycore
from lazycore.frontend.local import leave_root, tree

Rounds = Callable[[Callable[[int], object], int], list[int]]


@pytest.fixture(params=("reference",))
def backend(request: pytest.FixtureRequest) -> str:
    """The backend's name; a test that needs another one parametrizes it."""
    return str(request.param)


@pytest.fixture(autouse=True)
def selected(backend: str) -> Iterator[None]:
    """Select the backend, and forget what earlier tests recorded: an equal trace would be known already."""
    with lazycore.use_backend(backend):
        lazycore.sync()
        tree.clear()
        leave_root()
        lazycore.reset_metrics()
        torch.manual_seed(0)
        yield


@pytest.fixture
def rounds() -> Rounds:
    """``rounds(body, n)`` calls ``body(0) … body(n - 1)`` with a barrier after each; compilations after each call."""

    def count(body: Callable[[int], object], n: int) -> list[int]:
        lazycore.sync()
        before = lazycore.metrics()["compiles"]
        counts = []
        for i in range(n):
            body(i)
            lazycore.sync()
            counts.append(lazycore.metrics()["compiles"] - before)
        return counts

    return count
