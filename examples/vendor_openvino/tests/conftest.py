"""What ran where, for the tests."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator

import pytest
import torch

import lazycore

# The tests are of what is compiled now, not of what an earlier run left on disk.
lazycore.config.cache = False


@pytest.fixture(autouse=True)
def _seed() -> None:
    torch.manual_seed(0)


@pytest.fixture(params=["openvino,reference", "openvino?finite=1,reference"])
def selection(request: pytest.FixtureRequest) -> Iterator[str]:
    """OpenVINO in both of its ways, with the reference backend for the rest."""
    with lazycore.use_backend(request.param):
        yield request.param
    lazycore.sync()


@pytest.fixture
def placed() -> Callable[[], Counter[str]]:
    """Ops by the backend that runs them, of the plans compiled since the test began."""
    before = len(lazycore.explain().plans)

    def count() -> Counter[str]:
        steps = [step for plan in lazycore.explain().plans[before:] for step in plan.steps]
        total: Counter[str] = Counter()
        for step in steps:
            total[step.backend] += sum(step.ops.values())
        return total

    return count
