"""A copy is a copy: neither side of the border sees the other's later writes, whatever is shared underneath."""

from __future__ import annotations

import copy

import numpy as np
import pytest
import torch

import lazycore

DEVICE = "lazycore"


@pytest.fixture(params=("reference", "xla"))
def backend(request: pytest.FixtureRequest) -> str:
    """xla too: it may donate buffers and share memory with the host."""
    return str(request.param)


def test_a_device_tensor_does_not_see_writes_to_its_source() -> None:
    source, array = torch.zeros(64), np.zeros(64, np.float32)
    copies = [
        source.to(DEVICE), source.to(DEVICE, non_blocking=True), torch.empty(64, device=DEVICE).copy_(source),
        torch.from_numpy(array).to(DEVICE), torch.tensor(array, device=DEVICE), torch.as_tensor(array, device=DEVICE),
    ]  # fmt: skip
    sums = [c + 0 for c in copies]
    source.add_(1)
    array += 1
    for tensor in (*copies, *sums):
        assert tensor.tolist() == [0] * 64


def test_a_recorded_op_does_not_see_writes_to_its_cpu_operands() -> None:
    number, index, mask = torch.tensor(2.0), torch.tensor([0, 1]), torch.tensor([True, False, False])
    x = torch.arange(3.0, device=DEVICE)
    product, rows, chosen = x * number, x[index], x[mask]
    filled = torch.empty(2, device=DEVICE).fill_(number)
    written = torch.zeros(3, device=DEVICE)
    written[index] = number
    number.add_(5)
    index.add_(1)
    mask.logical_not_()
    assert product.tolist() == [0, 2, 4]
    assert (rows.tolist(), chosen.tolist()) == ([0, 1], [0])
    assert (filled.tolist(), written.tolist()) == ([2, 2], [2, 2, 0])


def test_a_partial_copy_is_isolated() -> None:
    source, target = torch.zeros(4), torch.ones(8, device=DEVICE)
    target[2:6].copy_(source)
    source.add_(9)
    assert target.tolist() == [1, 1, 0, 0, 0, 0, 1, 1]


def test_a_cpu_copy_does_not_change_with_its_device_tensor() -> None:
    x = torch.zeros(64, device=DEVICE)
    snapshots = []
    for step in range(6):
        snapshots.append((step, x.cpu(), x.detach().cpu(), x[:3].cpu(), x.expand(2, 64).cpu(), x.cpu().numpy()))
        x.add_(1)
        lazycore.sync()
    for step, *copies in snapshots:
        assert all((np.asarray(c) == step).all() for c in copies)


def test_a_device_tensor_does_not_change_with_its_cpu_copy() -> None:
    x = torch.zeros(64, device=DEVICE)
    twin, shifted = x.clone(), x + 0
    for tensor in (x, twin, shifted):
        tensor.cpu().add_(1)
        tensor.cpu().numpy()[:] = 7
        tensor[1:].cpu().add_(1)
        torch.empty(64).copy_(tensor).add_(1)
    for tensor in (x, twin, shifted, x.cpu()):
        assert tensor.tolist() == [0] * 64


def test_clones_detached_copies_and_deepcopies_each_hold_their_own() -> None:
    x = torch.zeros(64, device=DEVICE)
    clone, deep, alias = x.clone(), copy.deepcopy(x), x.detach()
    for _ in range(4):
        x.add_(1)
        lazycore.sync()
        clone.sub_(1)
        lazycore.sync()
    assert (x[0].item(), clone[0].item(), deep[0].item(), alias[0].item()) == (4, -4, 0, 4)
