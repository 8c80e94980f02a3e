"""Singular values and eigenvalues on the device, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

import lazycore

Decompose = Callable[[torch.Tensor], Any]

OF_MATRICES: dict[str, Decompose] = {
    "svd": lambda x: torch.linalg.svd(x),
    "svdvals": lambda x: torch.linalg.svdvals(x),
    "eigh": lambda x: torch.linalg.eigh(x),
    "eig": lambda x: torch.linalg.eig(x),
    "eigvals": lambda x: torch.linalg.eigvals(x),
}
EACH = pytest.mark.parametrize("backend", ["reference", "xla"], indirect=True)


@EACH
@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
@pytest.mark.parametrize("name", OF_MATRICES)
def test_what_is_not_finite_is_an_error_and_no_crash(name: str, bad: float) -> None:
    # LAPACK's eigenvalues of NaN end the process where nobody looks before, hence no comparison with the CPU.
    x = torch.eye(3)
    x[1, 1] = bad
    _result = OF_MATRICES[name](x.to("lazycore"))
    with pytest.raises(RuntimeError, match=r"non-finite values|infs or NaNs"):
        lazycore.sync()
    assert torch.linalg.svdvals(torch.eye(2).to("lazycore")).tolist() == [1.0, 1.0], "the next step works"


@EACH
def test_the_parts_make_up_the_matrix() -> None:
    torch.manual_seed(0)
    x = torch.randn(2, 4, 3)
    for full in (False, True):
        u, s, vh = torch.linalg.svd(x.to("lazycore"), full_matrices=full)
        torch.testing.assert_close((u[..., :3] * s[..., None, :] @ vh).cpu(), x)
    square = (x.mT @ x).to("lazycore")
    values, vectors = torch.linalg.eigh(square)
    torch.testing.assert_close((vectors * values[..., None, :] @ vectors.mT).cpu(), square.cpu())
    roots, directions = torch.linalg.eig(square)
    back = directions * roots[..., None, :] @ torch.linalg.inv(directions)
    torch.testing.assert_close(back.real.cpu(), square.cpu(), rtol=1e-4, atol=1e-4)
    assert lazycore.metrics()["fallbacks"] == {}


@EACH
def test_reflections_are_computed_by_the_backend() -> None:
    x = torch.randn(2, 4, 3)
    got, expected = torch.geqrf(x.to("lazycore")), torch.geqrf(x)
    assert got.a.stride() == expected.a.stride()
    torch.testing.assert_close((got.a.cpu(), got.tau.cpu()), tuple(expected))
    assert lazycore.metrics()["fallbacks"] == {}
