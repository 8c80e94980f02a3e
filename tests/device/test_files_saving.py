"""torch.save, torch.load and pickle of what lives on the device."""

from __future__ import annotations

import io
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

DEVICE = "lazycore"
LOCATIONS: dict[str, tuple[Any, str]] = {
    "none": (None, DEVICE),
    "cpu": ("cpu", "cpu"),
    "name": (DEVICE, DEVICE),
    "name and index": ("lazycore:0", DEVICE),
    "device": (torch.device(DEVICE), DEVICE),
    "cpu device": (torch.device("cpu"), "cpu"),
    "mapping": ({"lazycore:0": "cpu"}, "cpu"),
    "callable that keeps": (lambda storage, _: storage, "cpu"),
    "callable that declines": (lambda storage, _: None, DEVICE),  # noqa: ARG005
}
DTYPES = [
    torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.float8_e4m3fn, torch.int8, torch.uint8,
    torch.int16, torch.int32, torch.int64, torch.bool, torch.complex64, torch.complex128,
]  # fmt: skip


def roundtrip(value: Any, save: dict[str, Any] | None = None, **load: Any) -> Any:
    file = io.BytesIO()
    torch.save(value, file, **(save or {}))
    file.seek(0)
    return torch.load(file, **load)


@pytest.mark.parametrize("location", LOCATIONS)
def test_map_location(location: str) -> None:
    where, expected = LOCATIONS[location]
    a = torch.arange(6.0, device=DEVICE)
    loaded = roundtrip({"whole": a, "tail": a[2:]}, map_location=where)
    assert loaded["whole"].device.type == expected
    loaded["tail"].add_(1)
    assert loaded["whole"].tolist() == [0, 1, 3, 4, 5, 6], "views that shared a storage still do"
    assert a.tolist() == [0, 1, 2, 3, 4, 5]


@pytest.mark.parametrize("where", [DEVICE, {"cpu": DEVICE}, torch.device(DEVICE)])
def test_a_cpu_file_loads_onto_the_device(where: Any) -> None:
    a = torch.arange(6.0)
    whole, tail = roundtrip((a, a[2:]), map_location=where)
    assert whole.device.type == DEVICE
    tail.add_(1)
    assert whole.tolist() == [0, 1, 3, 4, 5, 6]


@pytest.mark.parametrize("where", [None, "cpu", DEVICE])
@pytest.mark.parametrize("source", ["cpu", DEVICE])
def test_mapped_files(tmp_path: Path, source: str, where: str | None) -> None:
    path = tmp_path / "tensors.pt"
    torch.save({"a": torch.arange(6.0, device=source)}, path)
    loaded = torch.load(path, mmap=True, map_location=where)["a"]
    assert loaded.device.type == (where or source)
    assert loaded.tolist() == [0, 1, 2, 3, 4, 5]


@pytest.mark.parametrize("where", [None, "cpu"])
def test_the_old_format(where: str | None) -> None:
    loaded = roundtrip(
        torch.arange(4.0, device=DEVICE), save={"_use_new_zipfile_serialization": False}, map_location=where
    )
    assert loaded.device.type == (where or DEVICE)
    assert loaded.tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_dtypes_keep_their_bits(dtype: torch.dtype) -> None:
    a = torch.arange(4).to(dtype).to(DEVICE)
    loaded = roundtrip(a)
    assert (loaded.dtype, loaded.device.type) == (dtype, DEVICE)
    assert torch.equal(loaded.cpu().view(torch.uint8), a.cpu().view(torch.uint8))


@pytest.mark.parametrize("shape", [(), (0,), (0, 3), (2, 0), (1, 1)])
def test_shapes(shape: tuple[int, ...]) -> None:
    loaded = roundtrip(torch.ones(shape, device=DEVICE))
    assert loaded.shape == shape
    assert torch.equal(loaded.cpu(), torch.ones(shape))


@pytest.mark.parametrize(
    "view", [torch.t, lambda x: x[:, 1:3], lambda x: x[::2], lambda x: x[1], lambda x: x[:, None].expand(3, 2, 4)]
)
def test_views_keep_their_strides(view: Callable[[torch.Tensor], torch.Tensor]) -> None:
    a = view(torch.arange(12.0, device=DEVICE).view(3, 4))
    loaded = roundtrip(a)
    assert loaded.stride() == a.stride()
    assert loaded.tolist() == a.tolist()


def test_conjugated_and_negated_views() -> None:
    z = torch.tensor([1 + 2j, 3 - 1j], device=DEVICE)
    assert roundtrip(z.conj()).tolist() == [1 - 2j, 3 + 1j]
    assert roundtrip(z.conj().imag).tolist() == [-2, 1]


def test_a_pending_value_is_computed_for_the_file() -> None:
    assert roundtrip(torch.ones(3, device=DEVICE) * 2 + 1).tolist() == [3, 3, 3]


def test_requires_grad_and_parameters() -> None:
    assert roundtrip(torch.ones(2, device=DEVICE, requires_grad=True)).requires_grad
    parameter = roundtrip(nn.Parameter(torch.ones(2, device=DEVICE)))
    assert type(parameter) is nn.Parameter
    assert parameter.device.type == DEVICE


def test_a_whole_module() -> None:
    module = nn.Linear(2, 3).to(DEVICE)
    loaded = roundtrip(module, weights_only=False)
    assert torch.equal(loaded.weight.detach().cpu(), module.weight.detach().cpu())
    assert loaded.weight.device.type == DEVICE


@pytest.mark.parametrize("where", [None, "cpu"])
def test_optimizer_state(where: str | None) -> None:
    module = nn.Linear(2, 3).to(DEVICE)
    optimizer = torch.optim.Adam(module.parameters())
    module(torch.ones(1, 2, device=DEVICE)).sum().backward()
    optimizer.step()
    saved = optimizer.state[module.weight]["exp_avg"].cpu()
    state = roundtrip(optimizer.state_dict(), map_location=where)
    assert state["state"][0]["exp_avg"].device.type == (where or DEVICE)
    optimizer.step()
    optimizer.load_state_dict(state)
    assert torch.equal(optimizer.state[module.weight]["exp_avg"].cpu(), saved)


@pytest.mark.parametrize("protocol", [2, 5])
def test_pickle(protocol: int) -> None:
    loaded = pickle.loads(pickle.dumps(torch.arange(4.0, device=DEVICE), protocol=protocol))
    assert (loaded.device.type, loaded.tolist()) == (DEVICE, [0, 1, 2, 3])
    module = nn.Linear(2, 3).to(DEVICE)
    twin = pickle.loads(pickle.dumps(module, protocol=protocol))
    assert torch.equal(twin.weight.detach().cpu(), module.weight.detach().cpu())
