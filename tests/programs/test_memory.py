"""Long runs keep neither tensors nor memory, and a dropped model gives its buffers back."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from torch import nn

import lazycore
from lazycore.trace.state import StorageState

WARM, STEPS = 100, 300
ALLOWED_GROWTH = 6 << 20
"""Bytes. Keeping one activation (64 x 256 floats) a step would grow by 13 MB over the measured steps."""


def resident() -> int:
    """Bytes of this process in memory."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def trainer() -> Callable[[], None]:
    """A closure that makes one training step of a small classifier on the device."""
    model = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 10))
    model = model.to("lazycore")
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)

    def step() -> None:
        x, y = torch.randn(64, 64).to("lazycore"), torch.randint(0, 10, (64,)).to("lazycore")
        loss = nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        assert loss.item() > 0

    return step


def settle() -> int:
    """Live storage states once everything pending ran and garbage is gone."""
    lazycore.sync()
    gc.collect()
    lazycore.sync()
    return sum(isinstance(item, StorageState) for item in gc.get_objects())


@pytest.mark.usefixtures("backend")
def test_training_is_flat() -> None:
    step = trainer()
    for _ in range(WARM):
        step()
    states, memory = settle(), resident()
    for _ in range(STEPS - WARM):
        step()
    assert settle() == states
    assert resident() - memory < ALLOWED_GROWTH


@pytest.mark.usefixtures("backend")
def test_dropped_model_frees_its_buffers() -> None:
    before = settle()
    step = trainer()
    step()
    step()
    assert settle() >= before + 6 * 3, "parameters and Adam's two moments live on the device"
    del step
    assert settle() == before


@pytest.mark.usefixtures("backend")
def test_unobserved_results_are_not_kept() -> None:
    """A loop that overwrites its result holds one tensor, however long it runs without a barrier of its own."""
    before = settle()
    x = torch.ones(8, device="lazycore")
    for _ in range(500):
        x = torch.sin(x) + x
    assert settle() <= before + 1
    assert torch.isfinite(x).all()
