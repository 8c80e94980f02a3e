"""Special functions as backends without them compute them: in terms of ordinary operators, here on the CPU."""

from __future__ import annotations

import math

import pytest
import torch

from lazycore.frontend.decompositions.bessel import BESSEL
from lazycore.frontend.decompositions.gamma import GAMMA
from lazycore.frontend.decompositions.special import SPECIAL

INF, NAN = math.inf, math.nan
ODD = torch.tensor([0.0, -0.0, 1.0, -1.0, 0.5, -3.0, 1e-30, 1e-5, 2e-3, -1e-4, 700.0, -1e3, INF, -INF, NAN])
# Names whose CPU kernel is off by up to 1e-6 in places, which no other order of its sums would be.
ROUGH = {"special_bessel_j0", "special_bessel_j1", "special_bessel_y0", "special_bessel_y1"}


def places(name: str, dtype: torch.dtype) -> torch.Tensor:
    within = torch.linspace(-1, 1, 201, dtype=torch.float64)
    # The CPU's own Airy function leaves the exact one between -2.1 and -3, and far to the left.
    low = -2.0 if name == "special_airy_ai" else -30.0
    wide = torch.linspace(low, 60, 1201, dtype=torch.float64)
    odd = ODD[ODD > -2] if name == "special_airy_ai" else ODD
    return torch.cat([within, wide, odd.double()]).to(dtype)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("name", [*BESSEL, *SPECIAL, "digamma"])
def test_functions_of_one_operand(name: str, dtype: torch.dtype) -> None:
    function = {**BESSEL, **SPECIAL, **GAMMA}[name]
    x = places(name, dtype)
    expected = getattr(torch.ops.aten, name)(x)
    rtol = 1e-5 if dtype is torch.float32 or name in ROUGH else 1e-7
    torch.testing.assert_close(function(x), expected, rtol=rtol, atol=1e-6, equal_nan=True)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("s", [1.0, 2.0, 3.0, 2.5, 40.0, 0.5, -1.0, INF])
def test_zeta(s: float, dtype: torch.dtype) -> None:
    q = places("zeta", dtype)
    order = torch.full_like(q, s)
    torch.testing.assert_close(
        GAMMA["special_zeta"](order, q), torch.special.zeta(order, q), rtol=1e-5, atol=1e-6, equal_nan=True
    )


@pytest.mark.parametrize("name", [*BESSEL, *SPECIAL, "digamma"])
def test_whole_numbers_scalars_and_nothing(name: str) -> None:
    function, op = {**BESSEL, **SPECIAL, **GAMMA}[name], getattr(torch.ops.aten, name)
    for x in (torch.tensor([0, 1, 2]), torch.tensor([True, False]), torch.tensor(0.75), torch.zeros(0, 3)):
        torch.testing.assert_close(function(x), op(x), rtol=1e-5, atol=1e-6, equal_nan=True)


@pytest.mark.parametrize("name", ["special_bessel_y1", "special_airy_ai", "special_modified_bessel_k0"])
def test_the_device_needs_no_kernel_of_its_own(name: str) -> None:
    import lazycore

    x = torch.tensor([0.25, 1.0, 3.0, 30.0])
    expected = getattr(torch.ops.aten, name)(x)
    with lazycore.use_backend("xla"):
        lazycore.reset_metrics()
        actual = getattr(torch.ops.aten, name)(x.to("lazycore")).cpu()
        assert lazycore.metrics()["fallbacks"] == {}
    torch.testing.assert_close(actual, expected, rtol=1e-5, atol=1e-6)
