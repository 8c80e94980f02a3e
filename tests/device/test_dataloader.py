"""Feeding the device from a DataLoader."""

from __future__ import annotations

import pytest
import torch
from torch.utils.data import DataLoader, Dataset, TensorDataset, default_collate

DEVICE = "lazycore"


def dataset() -> TensorDataset:
    return TensorDataset(torch.arange(12.0).view(6, 2), torch.arange(6))


@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize("pin", [False, True])
def test_batches_are_moved_by_the_program(workers: int, pin: bool) -> None:
    seen = []
    for x, y in DataLoader(dataset(), batch_size=2, num_workers=workers, pin_memory=pin):
        assert x.device.type == "cpu"
        moved = x.to(DEVICE, non_blocking=True)
        seen.append(((moved * 2).sum().item(), y.to(DEVICE).tolist()))
    assert seen == [(12, [0, 1]), (44, [2, 3]), (76, [4, 5])]


def test_shuffling_follows_the_seed() -> None:
    def order(device: str) -> list[int]:
        torch.manual_seed(3)
        data = TensorDataset(torch.arange(8, device=device))
        return [i for (batch,) in DataLoader(data, batch_size=2, shuffle=True) for i in batch.tolist()]

    assert order(DEVICE) == order("cpu")


def test_a_generator_made_for_the_device() -> None:
    def order(device: str) -> list[int]:
        generator = torch.Generator(device=device).manual_seed(5)
        loader = DataLoader(dataset(), batch_size=1, shuffle=True, generator=generator)
        return [y.item() for _, y in loader]

    assert order(DEVICE) == order("cpu")


def test_collating_on_the_device() -> None:
    def collate(samples: list[tuple[torch.Tensor, torch.Tensor]]) -> list[torch.Tensor]:
        return [t.to(DEVICE) for t in default_collate(samples)]

    batches = list(DataLoader(dataset(), batch_size=3, collate_fn=collate))
    assert [x.device.type for x, _ in batches] == [DEVICE] * 2
    assert [y.tolist() for _, y in batches] == [[0, 1, 2], [3, 4, 5]]


@pytest.mark.parametrize("workers", [0, 1])
def test_data_that_lives_on_the_device(workers: int) -> None:
    class Resident(Dataset[torch.Tensor]):
        data = torch.arange(12.0, device=DEVICE).view(6, 2)

        def __len__(self) -> int:
            return len(self.data)

        def __getitem__(self, item: int) -> torch.Tensor:
            return self.data[item]

    batches = list(DataLoader(Resident(), batch_size=4, num_workers=workers, timeout=60 if workers else 0))
    assert [b.tolist() for b in batches] == [[[0, 1], [2, 3], [4, 5], [6, 7]], [[8, 9], [10, 11]]]
    assert batches[0].device.type == DEVICE


def test_random_split() -> None:
    parts = torch.utils.data.random_split(dataset(), [4, 2], torch.Generator(DEVICE).manual_seed(0))
    expected = torch.utils.data.random_split(dataset(), [4, 2], torch.Generator().manual_seed(0))
    assert [p.indices for p in parts] == [p.indices for p in expected]
