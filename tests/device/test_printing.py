"""repr, str and format of device tensors: the CPU's text, and where the tensor lives."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import pytest
import torch

DEVICE = "lazycore"
MADE: dict[str, Callable[[str], torch.Tensor]] = {
    "0-d": lambda d: torch.tensor(3.5, device=d),
    "integers": lambda d: torch.arange(3, device=d),
    "bytes": lambda d: torch.arange(2, device=d, dtype=torch.uint8),
    "bool": lambda d: torch.ones(2, 2, device=d, dtype=torch.bool),
    "complex": lambda d: torch.tensor([1 + 2j, -0.5j], device=d),
    "conjugated": lambda d: torch.tensor([1 + 2j], device=d).conj(),
    "negated": lambda d: torch.tensor([1 + 2j, 0j], device=d).conj().imag,
    "float16": lambda d: torch.ones(2, device=d, dtype=torch.float16),
    "bfloat16": lambda d: torch.ones(2, device=d, dtype=torch.bfloat16),
    "float64": lambda d: torch.arange(3, device=d, dtype=torch.float64),
    "specials": lambda d: torch.tensor([float("nan"), float("inf"), 1e10, 1e-10, -0.0], device=d),
    "long": lambda d: torch.zeros(2000, device=d),
    "big": lambda d: torch.full((101, 101), 2.5, device=d),
    "empty": lambda d: torch.empty(0, 3, device=d),
    "empty view": lambda d: torch.zeros(2, 3, device=d)[:, 0:0],
    "view": lambda d: torch.arange(8.0, device=d).view(2, 2, 2)[:, 1].t(),
    "leaf": lambda d: torch.arange(3.0, device=d).requires_grad_(),
    "result": lambda d: torch.ones(2, device=d, requires_grad=True) * 2,
    "parameter": lambda d: torch.nn.Parameter(torch.ones(2, device=d)),
    "pending": lambda d: torch.ones(2, device=d) + 1,
}


@pytest.fixture(autouse=True)
def default_options() -> Iterator[None]:
    yield
    torch.set_printoptions(profile="default")


def without_device(text: str) -> str:
    # The device widens the last line, so that torch may break it elsewhere.
    return re.sub(r"\s+", " ", re.sub(r",\s+device='lazycore:0'", "", text))


@pytest.mark.parametrize("name", MADE)
def test_repr(name: str) -> None:
    text = repr(MADE[name](DEVICE))
    assert "device='lazycore:0'" in text
    assert without_device(text) == without_device(repr(MADE[name]("cpu")))


@pytest.mark.parametrize("options", [{"precision": 2}, {"sci_mode": True}, {"threshold": 4, "edgeitems": 1}])
def test_print_options(options: dict[str, int]) -> None:
    torch.set_printoptions(**options)
    assert without_device(str(torch.arange(9.0, device=DEVICE))) == without_device(str(torch.arange(9.0)))


def test_format() -> None:
    assert f"{torch.tensor(3.14159, device=DEVICE):.2f}" == "3.14"
    assert f"{torch.tensor(7, device=DEVICE):4d}" == "   7"


def test_modules_and_devices() -> None:
    assert repr(torch.nn.Linear(2, 3).to(DEVICE)) == repr(torch.nn.Linear(2, 3))
    assert str(torch.ones(1, device=DEVICE).device) == "lazycore:0"
    assert repr(torch.device(DEVICE)) == "device(type='lazycore')"
