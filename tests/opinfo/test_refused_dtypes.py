"""Every op of PyTorch's database with every dtype that the CPU refuses: the device refuses it as well."""

from __future__ import annotations

import pytest
import torch

import lazycore
from lazycore.conformance.database.operators import database
from tests.opinfo.refused_dtypes import differences, refused_dtypes

DIFFERENT = {
    "histc": "library code counts integers by it on any device but the CPU",
    "sparse.sampled_addmm": "the device has no sparse tensors, and says so first",
    "_segment_reduce.lengths": "runs in PyTorch with its real lengths, which zeros cannot stand for",
}
SHARE = 31


def _cases() -> list[tuple[str, str]]:
    # Compiled by nvrtc, which takes a GPU.
    ops = {name: info for name, info in database().items() if not name.startswith("jiterator")}
    return [(n, str(d).removeprefix("torch.")) for n, info in ops.items() if n not in DIFFERENT
            for d in refused_dtypes(info)]  # fmt: skip


def _check(cases: list[tuple[str, str]]) -> int:
    """All of them; how many calls the CPU refuses."""
    refusals, wrong = 0, []
    with lazycore.use_backend("reference"):
        for name, dtype in cases:
            count, found = differences(database()[name], getattr(torch, dtype))
            refusals += count
            wrong += [f"{name} of {dtype} {d.how}: {d.actual} where the CPU has {d.expected}" for d in found]
    assert not wrong, "\n".join(wrong)
    return refusals


def test_a_share_of_what_the_cpu_refuses() -> None:
    assert _check(_cases()[::SHARE]) > 120


@pytest.mark.slow
def test_all_that_the_cpu_refuses() -> None:
    assert _check(_cases()) > 1200


@pytest.mark.parametrize("name", DIFFERENT)
def test_what_differs_still_does(name: str) -> None:
    info = database()[name]
    assert any(differences(info, dtype)[1] for dtype in refused_dtypes(info))
