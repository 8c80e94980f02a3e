"""What a row tells of forward and backward passes: what ran on the backend, what in PyTorch, what was decomposed."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch

import lazycore
from lazycore.conformance.database.operators import database, run
from lazycore.conformance.database.outcome import Phase
from lazycore.conformance.database.witness import Witness
from lazycore.frontend.launch import WATCHERS


@pytest.fixture
def witness() -> Iterator[Witness]:
    watching = Witness()
    yield watching
    WATCHERS.pop()


def phases(witness: Witness, op: str) -> tuple[Phase, Phase]:
    with lazycore.use_backend("reference"):
        outcome = run(database()[op], torch.float32, backward=True, limit=2, witness=witness)
    assert not outcome.errors
    return outcome.phase("forward"), outcome.phase("backward")


def test_each_direction_is_told_apart(witness: Witness) -> None:
    forward, backward = phases(witness, "cumsum")
    assert forward == Phase(2, 2, ran={"aten.cumsum.default": 2})
    assert (backward.samples, backward.native) == (2, 2)
    assert set(backward.ran) == {"aten.flip.default", "aten.cumsum.default"}


def test_what_pytorch_ran_and_what_was_decomposed(witness: Witness) -> None:
    forward, backward = phases(witness, "masked_select")
    assert forward == Phase(2, 0, fallbacks={"aten.masked_select.default": 2})
    assert (backward.samples, backward.native, backward.fallbacks) == (2, 2, {})
    assert backward.decomposed == {"aten.masked_scatter.default": 2}
    assert backward.ran["aten.cumsum.default"] == 2


def test_rows_are_json() -> None:
    with lazycore.use_backend("reference"):
        row = run(database()["abs"], torch.int64, backward=True, limit=1).row()
    assert row["phases"] == {}
