"""All samples as one program find what one after the other finds."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch

import lazycore
from lazycore.conformance.database.operators import database, run, run_together


@pytest.fixture(autouse=True)
def on_the_reference_drawing_as_the_cpu_does(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(lazycore.config, "rng", "cpu")
    with lazycore.use_backend("reference"):
        yield
        lazycore.sync()


@pytest.mark.parametrize("op", ["add", "sort", "index_select", "linalg.svd", "nn.functional.dropout", "cumsum"])
@pytest.mark.parametrize("backward", [False, True])
def test_the_same_is_found(op: str, backward: bool) -> None:
    together = run_together(database()[op], torch.float32, backward, 6)
    apart = run(database()[op], torch.float32, backward, 6)
    assert together == apart


def test_one_program_of_all_samples() -> None:
    lazycore.reset_metrics()
    outcome = run_together(database()["mul"], torch.float32, False, 6)
    assert outcome is not None
    assert (outcome.samples, outcome.forward) == (6, 6)
    counts = lazycore.metrics()
    assert (counts["ops_recorded"], counts["syncs"]) == (6, 1)


@pytest.mark.parametrize("op", ["nonzero", "to_sparse"])
def test_what_falls_back_or_fails_is_for_each_by_itself(op: str) -> None:
    assert run_together(database()[op], torch.float32, False, 6) is None


def test_a_wrong_sample_is_for_each_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    from lazycore.conformance.database import trial

    right = trial.moved
    monkeypatch.setattr(trial, "moved", lambda given: right((given[0] + 1, *given[1:])))
    assert run_together(database()["mul"], torch.float32, False, 6) is None
    assert run(database()["mul"], torch.float32, False, 6).errors
