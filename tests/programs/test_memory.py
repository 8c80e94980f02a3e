"""Long runs keep neither tensors nor memory, and a dropped model gives its buffers back."""

from __future__ import annotations

import gc
from collections.abc import Callable
from weakref import ref

import pytest
import torch
from programkit.footprint import resident, settle
from torch import nn

import lazycore

WARM, STEPS = 100, 200
WINDOWS = 3
"""Measured one after the other: what leaks grows in each, what other threads of the process take only in some."""
ALLOWED_GROWTH = 6 << 20
"""Bytes. Keeping one activation (64 x 256 floats) a step would grow by 13 MB over the measured steps."""


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


@pytest.mark.usefixtures("backend")
def test_training_is_flat() -> None:
    step = trainer()
    for _ in range(WARM):
        step()
    states, growth = settle(), []
    for _ in range(WINDOWS):
        memory = resident()
        for _ in range(STEPS):
            step()
        assert settle() == states
        growth.append(resident() - memory)
        if growth[-1] < ALLOWED_GROWTH:
            return
    pytest.fail(f"grew by {growth} bytes")


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


@pytest.mark.usefixtures("backend")
def test_dropping_a_model_frees_its_memory_at_once() -> None:
    """Not only when garbage is collected: whoever drops a model makes room for the next one."""
    model = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 10)).to("lazycore")
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    for _ in range(3):
        optimizer.zero_grad()
        loss = model(torch.randn(64, 64).to("lazycore")).square().mean()
        loss.backward()
        optimizer.step()
    lazycore.sync()
    moments = [t for state in optimizer.state.values() for t in state.values()]
    held = [ref(t.untyped_storage().state.value) for t in (*model.parameters(), *moments) if t.device.type != "cpu"]
    assert len(held) >= 4 * 3
    gc.disable()
    try:
        del model, optimizer, loss, moments
        assert [value for value in held if value() is not None] == []
    finally:
        gc.enable()
