"""What counts as rounding, measured against double precision, and what does not."""

from __future__ import annotations

import pytest
import torch

import lazycore  # noqa: F401 - the device
from lazycore.conformance.database.compare import Differs, compare
from lazycore.conformance.database.exact import Exact, as_near, widened
from lazycore.conformance.database.moving import moved

EXACT = torch.tensor([1.0, -2.0, 300.0], dtype=torch.float64)
NOISE = torch.tensor([1e-3, 0, -0.1], dtype=torch.float64)


@pytest.mark.parametrize("factor", [0.0, -1.0, 3.9])
def test_as_near_as_the_cpu(factor: float) -> None:
    assert as_near(EXACT, (EXACT + NOISE).float(), (EXACT + factor * NOISE).float())


@pytest.mark.parametrize("cpu", [float("inf"), 302.0, 999.0])
def test_what_is_exact_is_right(cpu: float) -> None:
    assert as_near(EXACT, torch.tensor([1.0, -2, cpu]), EXACT.float())


@pytest.mark.parametrize(
    ("exact", "cpu", "device"),
    [
        (EXACT, EXACT.float(), (EXACT + 5 * NOISE).float()),
        (EXACT, (EXACT + NOISE).float(), (EXACT + 5 * NOISE).float()),
        (EXACT, (EXACT * 2).float(), (EXACT * 2.1).float()),  # not what the CPU computed
        (EXACT, (EXACT + NOISE).float(), torch.tensor([1.0, float("nan"), 300])),
        (EXACT, torch.tensor([1.0, -2, float("inf")]), torch.tensor([1.0, -2, float("-inf")])),
        (EXACT, torch.tensor([1.0, -2, float("inf")]), (EXACT + NOISE).float()),
        (EXACT.float(), (EXACT + NOISE).float(), EXACT.float()),  # not exact
        (EXACT[:2], (EXACT + NOISE).float(), EXACT.float()),
        (None, (EXACT + NOISE).float(), EXACT.float()),
        (EXACT.long(), EXACT.long(), EXACT.long() + 1),
        (EXACT, EXACT, EXACT + NOISE),  # there is nothing wider to ask
    ],
)  # fmt: skip
def test_not_as_near(exact: torch.Tensor | None, cpu: torch.Tensor, device: torch.Tensor) -> None:
    assert not as_near(exact, cpu, device)


def test_comparison_asks_it_only_where_results_differ() -> None:
    cpu = (EXACT + NOISE).float()
    with pytest.raises(Differs):
        compare([cpu], moved([EXACT.float()]), "")
    compare([cpu], moved([EXACT.float()]), "", exact=Exact(lambda: [EXACT]))
    with pytest.raises(Differs):
        compare([cpu], moved([(EXACT + 5 * NOISE).float()]), "", exact=Exact(lambda: [EXACT]))
    with pytest.raises(Differs):
        compare([cpu], moved([EXACT.float()]), "", exact=Exact(lambda: 1 / 0))


def test_widened() -> None:
    x = torch.ones(2, dtype=torch.bfloat16, requires_grad=True)
    wide, dtype, whole = widened((x, torch.complex64, torch.ones(1, dtype=torch.int64)))
    assert (wide.dtype, wide.requires_grad, dtype) == (torch.float64, True, torch.complex128)
    assert whole.dtype is torch.int64
