"""``Tensor.to`` and its relatives over the device's border: geometry, dtype and identity are the CPU's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

DEVICE = "lazycore"
View = Callable[[torch.Tensor], torch.Tensor]

OPTIONS: list[dict[str, Any]] = [
    {},
    {"non_blocking": True},
    {"copy": True},
    {"dtype": torch.float64},
    {"dtype": torch.int32, "non_blocking": True},
    {"memory_format": torch.channels_last},
    {"dtype": torch.float16, "memory_format": torch.channels_last, "copy": True},
]
VIEWS: dict[str, View] = {
    "transposed": torch.t,
    "columns": lambda x: x[:, 1:3],
    "every other row": lambda x: x[::2],
    "expanded": lambda x: x[:, None].expand(3, 2, 4),
    "rows of the transposed": lambda x: x.t()[1:],
    "one element": lambda x: x[1, 2],
    "empty": lambda x: x[3:],
    "unfolded": lambda x: x.unfold(1, 2, 1),
    "as_strided": lambda x: x.as_strided((2, 2), (1, 5), 3),
}


def assert_same(found: torch.Tensor, expected: torch.Tensor) -> None:
    assert (found.dtype, found.shape, found.stride()) == (expected.dtype, expected.shape, expected.stride())
    assert torch.equal(found.cpu(), expected)


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_to(options: dict[str, Any]) -> None:
    x = torch.arange(24.0).view(1, 2, 3, 4)
    expected = x.to("cpu", **options)
    there = x.to(DEVICE, **options)
    assert there.device.type == DEVICE
    assert_same(there, expected)
    assert_same(there.to("cpu", **options), expected)
    again = there.to(DEVICE, **options)
    assert_same(again, expected)
    assert (again is there) == (expected.to("cpu", **options) is expected)


@pytest.mark.parametrize("view", VIEWS)
def test_views_cross_in_both_directions(view: str) -> None:
    take = VIEWS[view]
    x = torch.arange(12.0).view(3, 4)
    expected = take(x)
    dense = expected.to("cpu", copy=True)
    assert_same(expected.to(DEVICE), dense)
    assert_same(take(x.to(DEVICE)).cpu(), dense)


@pytest.mark.parametrize(("source", "target"), [("cpu", DEVICE), (DEVICE, "cpu"), (DEVICE, DEVICE)])
@pytest.mark.parametrize("view", [name for name in VIEWS if name not in ("expanded", "unfolded")])
def test_copy_between_views(source: str, target: str, view: str) -> None:
    take = VIEWS[view]
    base, content = torch.zeros(3, 4), torch.arange(12.0).view(3, 4)
    expected = base.clone()
    take(expected).copy_(take(content))
    written = base.to(target)
    take(written).copy_(take(content.to(source)))
    assert torch.equal(written.cpu(), expected)


def test_copy_broadcasts_and_casts() -> None:
    x = torch.zeros(2, 3, dtype=torch.int32, device=DEVICE)
    x.copy_(torch.tensor([1.9, -2.9, 3.0]))
    assert x.tolist() == [[1, -2, 3]] * 2
    y = torch.zeros(2, 3)
    y.copy_(x[0])
    assert y.tolist() == [[1, -2, 3]] * 2
    with pytest.raises(RuntimeError, match="must match"):
        x.copy_(torch.ones(4))


def test_conjugated_and_negated_tensors_cross() -> None:
    z = torch.tensor([1 + 2j, 3 - 1j])
    for lazy in (lambda x: x.conj(), lambda x: x.conj().imag):
        assert torch.equal(lazy(z).to(DEVICE).cpu(), lazy(z))
        assert torch.equal(lazy(z.to(DEVICE)).cpu(), lazy(z))


def test_identity_and_types() -> None:
    x = torch.ones(2, device=DEVICE)
    assert x.to(DEVICE) is x
    assert x.to("lazycore:0") is x
    assert x.to(x) is x
    assert x.to(DEVICE, copy=True) is not x
    assert x.type() == "torch.lazycore.FloatTensor"
    assert torch.ones(2).type("torch.lazycore.DoubleTensor").device.type == DEVICE
    assert torch.ones(2).type_as(x).device.type == DEVICE
    assert torch.ones(2).lazycore().is_lazycore


def test_factories_from_python_and_numpy() -> None:
    array = np.arange(3.0)
    made = [
        torch.tensor([0.0, 1.0, 2.0], dtype=torch.float64, device=DEVICE),
        torch.tensor(array, device=DEVICE),
        torch.as_tensor(array, device=DEVICE),
        torch.asarray(array, device=DEVICE),
        torch.from_numpy(array).to(DEVICE),
    ]
    for tensor in made:
        assert (tensor.device.type, tensor.dtype, tensor.tolist()) == (DEVICE, torch.float64, [0, 1, 2])
    assert torch.tensor(3.0, device=DEVICE, requires_grad=True).requires_grad


def test_default_device() -> None:
    torch.set_default_device(DEVICE)
    try:
        made = [
            torch.ones(2), torch.randn(2), torch.tensor([1]), torch.arange(3), torch.eye(2), torch.linspace(0, 1, 3),
            torch.randperm(4), torch.full((2,), 3.0), torch.as_tensor([1.0]), torch.hann_window(4), torch.empty(1),
            torch.tril_indices(3, 3), torch.randint(0, 3, (2,)), torch.nn.Linear(2, 3).weight,
        ]  # fmt: skip
        assert {t.device.type for t in made} == {DEVICE}
        assert torch.get_default_device().type == DEVICE
        assert torch.from_numpy(np.ones(2)).device.type == "cpu"
        assert torch.ones(2, device="cpu").device.type == "cpu"
    finally:
        torch.set_default_device(None)
    assert torch.ones(2).device.type == "cpu"


def test_device_as_a_context() -> None:
    with torch.device(DEVICE):
        layer = torch.nn.TransformerEncoderLayer(4, 2, 8, batch_first=True)
    assert {p.device.type for p in layer.parameters()} == {DEVICE}
    assert torch.ones(2).device.type == "cpu"
