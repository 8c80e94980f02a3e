"""UntypedStorage and TypedStorage on the device, which has no data pointer behind them."""

from __future__ import annotations

import copy
from pathlib import Path

import pytest
import torch
from torch import UntypedStorage

DEVICE = "lazycore"


def test_construction() -> None:
    storage = UntypedStorage(8, device=DEVICE)
    assert (storage.device.type, storage.nbytes(), len(storage), storage.size()) == (DEVICE, 8, 8, 8)
    assert UntypedStorage(device=DEVICE).nbytes() == 0
    assert UntypedStorage([1, 2, 3], device=torch.device(DEVICE)).tolist() == [1, 2, 3]
    assert torch.empty(0, device=DEVICE).set_(UntypedStorage(8, device=DEVICE)).shape == (2,)


def test_fill_index_and_clone() -> None:
    storage = UntypedStorage(4, device=DEVICE).fill_(7)
    twin = storage.clone()
    twin[0] = 5
    assert (storage.tolist(), twin.tolist()) == ([7, 7, 7, 7], [5, 7, 7, 7])
    assert (twin[0], twin[1:3].tolist()) == (5, [7, 7])
    assert copy.deepcopy(twin).tolist() == twin.tolist()
    assert twin.cpu().tolist() == twin.tolist()


@pytest.mark.parametrize(("source", "target"), [("cpu", DEVICE), (DEVICE, "cpu"), (DEVICE, DEVICE)])
def test_copy(source: str, target: str) -> None:
    a, b = UntypedStorage([1, 2, 3, 4], device=source), UntypedStorage(4, device=target)
    assert b.copy_(a).tolist() == [1, 2, 3, 4]
    b[0] = 9
    assert a[0] == 1


def test_resize_keeps_what_fits() -> None:
    storage = UntypedStorage([1, 2, 3, 4], device=DEVICE)
    storage.resize_(16)
    assert (storage.nbytes(), storage.tolist()[:4]) == (16, [1, 2, 3, 4])
    storage.resize_(2)
    assert storage.tolist() == [1, 2]


def test_a_tensor_on_a_storage_that_was_emptied_and_grown_again() -> None:
    a = torch.ones(3, device=DEVICE)
    a.untyped_storage().resize_(0)
    a.untyped_storage().resize_(12)
    a.copy_(torch.arange(3.0))
    assert a.tolist() == [0, 1, 2]


def test_tensors_see_what_is_written_to_their_storage() -> None:
    a = torch.zeros(2, dtype=torch.uint8, device=DEVICE)
    a.untyped_storage()[1] = 3
    assert a.tolist() == [0, 3]
    a.untyped_storage().fill_(1)
    assert a.tolist() == [1, 1]
    a.add_(1)
    assert a.untyped_storage().tolist() == [2, 2]


@pytest.mark.filterwarnings("ignore:TypedStorage is deprecated")
def test_typed_storages() -> None:
    storage = torch.TypedStorage(4, dtype=torch.float32, device=DEVICE)
    storage.fill_(3)
    storage[1] = 7
    assert storage.tolist() == [3, 7, 3, 3]
    assert copy.deepcopy(storage).tolist() == storage.cpu().tolist() == storage.clone().tolist() == [3, 7, 3, 3]


def test_addresses_tell_tensors_apart_and_views_together() -> None:
    a, b = torch.ones(4, device=DEVICE), torch.ones(4, device=DEVICE)
    assert 0 not in (a.data_ptr(), b.data_ptr())
    assert abs(a.data_ptr() - b.data_ptr()) >= a.nbytes, "their ranges do not overlap"
    assert a[1:].data_ptr() == a.data_ptr() + 4
    assert a.view(2, 2).data_ptr() == a.untyped_storage().data_ptr() == a.data_ptr()
    assert torch.empty(0, device=DEVICE).data_ptr() == 0


def test_an_address_moves_when_the_storage_outgrows_it() -> None:
    a, b = torch.ones(4, device=DEVICE), torch.ones(4, device=DEVICE)
    first, other = a.data_ptr(), b.data_ptr()
    a.resize_(1000)
    assert a.data_ptr() != first
    assert not a.data_ptr() <= other < a.data_ptr() + a.nbytes


def test_a_file_s_content(tmp_path: Path) -> None:
    path = tmp_path / "bytes"
    path.write_bytes(bytes(range(8)))
    mapped = UntypedStorage.from_file(str(path), nbytes=8)
    assert torch.empty(0, dtype=torch.uint8).set_(mapped).to(DEVICE).tolist() == list(range(8))


def test_pinning_and_sharing_are_harmless() -> None:
    a = torch.ones(2, device=DEVICE)
    assert a.pin_memory() is a
    assert not a.is_pinned()
    assert a.share_memory_() is a
    assert a.untyped_storage().is_shared()
