"""A fixed sample of PyTorch's operator database. ``make opinfo`` runs all of it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch

import lazycore
from lazycore.conformance.database.operators import database, run
from tests.opinfo.known import known_failures
from tests.opinfo.runner import FORWARD

# Backend -> every how many-th case, and samples of each. Compiling takes XLA far longer than NumPy.
SHARES = {"reference": (12, 3), "xla": (60, 1)}


def _cases(backend: str) -> list[tuple[str, str, str]]:
    ops = database()
    cases = [(n, d) for n in ops for d in FORWARD if getattr(torch, d) in ops[n].supported_dtypes("cpu")]
    return [(backend, *case) for case in cases[:: SHARES[backend][0]]]


@pytest.fixture(autouse=True)
def drawing_as_the_cpu_does(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(lazycore.config, "rng", "cpu")
    yield
    lazycore.sync()


@pytest.mark.parametrize(("backend", "op", "dtype"), _cases("reference") + _cases("xla"))
def test_case(backend: str, op: str, dtype: str) -> None:
    with lazycore.use_backend(backend):
        outcome = run(database()[op], getattr(torch, dtype), backward=True, limit=SHARES[backend][1])
    reason = known_failures(backend).get(f"{op} {dtype}")
    if reason is None:
        assert not outcome.errors, "\n".join(outcome.errors)
    elif outcome.errors:
        pytest.xfail(reason)
    else:
        pytest.fail(f"{op} {dtype} passes: take it off the list of known failures")
