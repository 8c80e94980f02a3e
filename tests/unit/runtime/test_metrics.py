"""The counters."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from lazycore.report.metrics import METRICS, metrics, reset_metrics

NAMES = {
    "ops_recorded", "syncs", "traces", "compiles", "cache_hits", "cache_loads", "compile_seconds", "load_seconds",
    "fallbacks", "shared",
}  # fmt: skip


@pytest.fixture(autouse=True)
def _clean() -> Iterator[None]:
    reset_metrics()
    yield
    reset_metrics()


def test_everything_starts_at_zero() -> None:
    snapshot = metrics()
    assert set(snapshot) == NAMES
    assert not any(snapshot.values())


def test_a_snapshot_does_not_change() -> None:
    METRICS.fallbacks["aten.sort.default"] += 1
    METRICS.compiles += 1
    snapshot = metrics()
    METRICS.fallbacks["aten.sort.default"] += 1
    METRICS.compiles += 1
    assert snapshot["fallbacks"] == {"aten.sort.default": 1}
    assert snapshot["compiles"] == 1


@pytest.mark.parametrize("read", [lambda s: s, lambda s: s["fallbacks"]])
def test_a_snapshot_cannot_be_written(read: object) -> None:
    with pytest.raises(TypeError):
        read(metrics())["compiles"] = 1


def test_reset() -> None:
    METRICS.syncs += 3
    METRICS.fallbacks["aten.sort.default"] += 1
    reset_metrics()
    assert not any(metrics().values())
