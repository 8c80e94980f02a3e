"""Ratios against the ones checked in: what is a regression and what is not."""

from __future__ import annotations

import pytest

from bench.check import Regression, better, regressions


def row(lazycore: float, eager: float, program: str = "mlp", what: str = "step ms") -> dict[str, object]:
    return {"program": program, what: {"eager": eager, "lazycore": lazycore}, "losses": [1.0, 1.0]}


def test_a_slower_machine_is_no_regression() -> None:
    assert regressions([row(1.0, 2.0)], [row(10.0, 20.0)], 1.3) == []


def test_a_ratio_beyond_the_tolerance_is_named() -> None:
    (found,) = regressions([row(1.0, 2.0)], [row(1.4, 2.0)], 1.3)
    assert found == Regression("mlp", "step ms", "eager", 0.5, 0.7)
    assert str(found) == "mlp, step ms: 0.70x eager, was 0.50x"
    assert regressions([row(1.0, 2.0)], [row(1.3, 2.0)], 1.3) == []


@pytest.mark.parametrize("now", [row(9.0, 1.0, "gpt"), row(9.0, 1.0, what="peak MiB"), {"program": "mlp"}])
def test_what_was_not_measured_before_is_not_compared(now: dict[str, object]) -> None:
    assert regressions([row(1.0, 2.0)], [now], 1.3) == []


def test_other_settings_of_lazycore_are_no_yardstick() -> None:
    rows = [{"program": "mlp", "step ms": {"lazycore": t, "lazycore, memory returned": 1.0}} for t in (1.0, 9.0)]
    assert regressions(rows[:1], rows[1:], 1.3) == []


def test_a_regression_must_show_twice() -> None:
    first = [Regression("mlp", "step ms", "eager", 0.5, 0.9), Regression("gpt", "step ms", "eager", 0.5, 0.9)]
    second = [Regression("mlp", "step ms", "eager", 0.5, 0.7), Regression("lstm", "step ms", "eager", 0.5, 0.9)]
    assert better(first, second) == [second[0]]
