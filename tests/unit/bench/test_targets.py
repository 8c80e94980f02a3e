"""Targets beside measurements, and what is checked in of both."""

from __future__ import annotations

import pytest

from bench.parts import PARTS
from bench.results_file import merged, read
from bench.targets import TARGETS, verdicts


def test_a_target_is_met_up_to_its_limit() -> None:
    values = {"lazycore": 0.6, "jax": 1.0, "eager": 0.1}
    found = {v.target.way: v.met for v in verdicts("steps", [{"program": "gpt", "step ms": values}])}
    assert found == {"jax": True, "eager": False}


def test_what_a_target_allows_besides_is_taken_off() -> None:
    row = {"program": "lstm", "step ms": {"lazycore": 13.0, "jax": 10.0}, "record ms": {"lazycore": 4.0}}
    (verdict,) = verdicts("steps", [row])
    assert verdict.ratio == pytest.approx(0.9)
    assert verdict.met


@pytest.mark.parametrize("target", TARGETS, ids=lambda t: f"{t.program}-{t.what}-{t.way}")
def test_every_target_is_of_a_part(target: object) -> None:
    assert target.part in PARTS  # type: ignore[attr-defined]


@pytest.mark.parametrize("part", [part for part in PARTS if read(part)])
def test_every_miss_that_is_checked_in_says_why(part: str) -> None:
    result = read(part)
    assert result is not None
    silent = [v.target for v in verdicts(part, result["rows"]) if not v.met and not v.target.why]
    assert not silent


def test_rows_measured_anew_replace_the_old_ones() -> None:
    old = {"machine": {"cpus": 2, "load": 1.0}, "rows": [{"program": "a", "x": 1}, {"program": "b", "x": 1}]}
    new = {"machine": {"cpus": 2, "load": 3.0}, "rows": [{"program": "a", "x": 2}]}
    assert merged(old, new) == {"machine": new["machine"], "rows": [{"program": "a", "x": 2}, old["rows"][1]]}


def test_rows_of_another_machine_are_not_kept() -> None:
    old = {"machine": {"cpus": 2, "load": 1.0}, "rows": [{"program": "b", "x": 1}]}
    new = {"machine": {"cpus": 8, "load": 1.0}, "rows": [{"program": "a", "x": 2}]}
    assert merged(old, new) == new
    assert merged(None, new) == new
