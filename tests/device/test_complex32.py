"""complex32: stored on the device, computed by PyTorch on the CPU, refused where PyTorch refuses it."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import pytest
import torch

import lazycore

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # torch's, that the dtype is an experiment
    Z = torch.tensor([1 + 2j, 3 - 0.5j, float("inf")]).to(torch.complex32)

pytestmark = pytest.mark.filterwarnings("ignore:ComplexHalf support is experimental")


def _half(z: torch.Tensor) -> torch.Tensor:
    return torch.tensor([1.5, -2, 0], dtype=torch.float16, device=z.device)


RIGHT: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "itself": lambda z: z.clone(),
    "sum": lambda z: z + z,
    "number": lambda z: z * 2,
    "promoted half": lambda z: _half(z) * 1j,
    "promoted pair": lambda z: z * _half(z),
    "wider": lambda z: z.to(torch.complex64) / 2,
    "from half": lambda z: _half(z).to(torch.complex32),
    "equality": lambda z: z == z[1],
    "select": lambda z: torch.where(_half(z) > 0, z, z + 1),
    "cat": lambda z: torch.cat([z, z]),
    "parts": lambda z: torch.view_as_real(z),
    "conjugate": lambda z: z.conj().resolve_conj(),
    "element": lambda z: z[1],
    "filled": lambda z: torch.full_like(z, 2j),
}


@pytest.mark.parametrize("name", RIGHT)
def test_results_are_the_cpus(name: str) -> None:
    expected = RIGHT[name](Z)
    actual = RIGHT[name](Z.to("lazycore"))
    assert actual.dtype is expected.dtype
    wide = [result.cpu().to(torch.complex64) for result in (actual, expected)]
    torch.testing.assert_close(*wide, rtol=0, atol=0, equal_nan=True)


def test_written_elements() -> None:
    z = Z.to("lazycore")
    z[0] = 5
    z[1:] += z[:1]
    expected = Z.clone()
    expected[0] = 5
    expected[1:] += expected[:1]
    assert torch.equal(torch.view_as_real(z).cpu(), torch.view_as_real(expected))


@pytest.mark.parametrize("op", [torch.sum, torch.sin, torch.prod, lambda z: z / z, lambda z: z < z])
def test_what_the_cpu_lacks_is_refused_when_called(op: Callable[[torch.Tensor], torch.Tensor]) -> None:
    pending = torch.ones(2, device="lazycore") + 1
    with pytest.raises((NotImplementedError, RuntimeError)) as expected:
        op(Z)
    z = Z.to("lazycore")
    with pytest.raises(type(expected.value)) as actual:
        op(z)
    assert str(actual.value) == str(expected.value)
    assert pending.tolist() == [2, 2]


def test_no_backend_is_asked_for_it() -> None:
    lazycore.reset_metrics()
    (Z.to("lazycore") + 1).cpu()
    assert lazycore.metrics()["fallbacks"]["aten.add.Tensor"] == 1
