"""Handing tensors to others: NumPy, DLPack, safetensors, other processes, distributed checkpoints."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest
import torch
import torch.multiprocessing as mp
from torch import nn
from torch.utils import dlpack

DEVICE = "lazycore"


def test_numpy_asks_for_a_cpu_tensor_first() -> None:
    a = torch.ones(2, device=DEVICE)
    for convert in (a.numpy, lambda: np.asarray(a)):
        with pytest.raises(TypeError, match="can't convert lazycore:0 device type tensor to numpy"):
            convert()
    assert a.requires_grad_().numpy(force=True).tolist() == [1, 1]


def test_dlpack_hands_out_a_copy_on_the_host() -> None:
    a = torch.arange(3.0, device=DEVICE) * 2
    exported = [
        np.from_dlpack(a).tolist(), torch.from_dlpack(a).tolist(), dlpack.from_dlpack(dlpack.to_dlpack(a)).tolist()
    ]  # fmt: skip
    assert exported == [[0, 2, 4]] * 3
    shared = torch.from_dlpack(a)
    a.add_(1)
    assert shared.tolist() == [0, 2, 4]


def test_dlpack_of_views() -> None:
    a = torch.arange(12.0, device=DEVICE).view(3, 4)
    assert np.from_dlpack(a.t()[1:, ::2]).tolist() == a.t()[1:, ::2].tolist()


@pytest.mark.parametrize("source", [np.arange(3.0), torch.arange(3.0)], ids=["numpy", "torch"])
def test_dlpack_into_the_device(source: object) -> None:
    assert torch.from_dlpack(source).to(DEVICE).tolist() == [0, 1, 2]  # type: ignore[arg-type]


def test_safetensors(tmp_path: Path) -> None:
    safetensors = pytest.importorskip("safetensors.torch", reason="safetensors is not installed")
    path = str(tmp_path / "model.safetensors")
    module = nn.Linear(2, 3).to(DEVICE)
    safetensors.save_model(module, path)
    assert torch.equal(safetensors.load_file(path)["weight"], module.weight.detach().cpu())
    twin = nn.Linear(2, 3).to(DEVICE)
    safetensors.load_model(twin, path)
    assert torch.equal(twin.weight.detach().cpu(), module.weight.detach().cpu())


def test_safetensors_sees_which_tensors_share_memory(tmp_path: Path) -> None:
    safetensors = pytest.importorskip("safetensors.torch", reason="safetensors is not installed")
    a, b = torch.ones(4, device=DEVICE), torch.zeros(4, device=DEVICE)
    safetensors.save_file({"a": a, "b": b}, str(tmp_path / "apart"))
    with pytest.raises(RuntimeError, match="share memory"):
        safetensors.save_file({"a": a, "alias": a.view(2, 2)}, str(tmp_path / "together"))


def test_queues_between_processes() -> None:
    queue = mp.get_context("spawn").SimpleQueue()
    queue.put((torch.arange(3.0, device=DEVICE), nn.Parameter(torch.ones(2, device=DEVICE))))
    tensor, parameter = queue.get()
    assert (tensor.device.type, tensor.tolist()) == (DEVICE, [0, 1, 2])
    assert type(parameter) is nn.Parameter
    assert parameter.requires_grad


def test_distributed_checkpoints(tmp_path: Path) -> None:
    dcp = pytest.importorskip("torch.distributed.checkpoint")
    module, twin = nn.Linear(2, 3).to(DEVICE), nn.Linear(2, 3).to(DEVICE)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        dcp.save({"model": module.state_dict()}, checkpoint_id=tmp_path, no_dist=True)
        state = {"model": twin.state_dict()}
        dcp.load(state, checkpoint_id=tmp_path, no_dist=True)
    twin.load_state_dict(state["model"])
    assert torch.equal(twin.weight.detach().cpu(), module.weight.detach().cpu())
