"""Hours of training and shapes without end: what the device remembers has a bound."""

from __future__ import annotations

import gc

import pytest
import torch
from programkit.footprint import resident, settle
from torch import nn

import lazycore
from lazycore.frontend.local import tree
from lazycore.trace.node import Node

MB = 1 << 20


def nodes() -> int:
    """How many calls the trace tree remembers."""
    count, open_ends = 0, list(tree.roots.values())
    while open_ends:
        node = open_ends.pop()
        children = {id(c): c for c in node.children.values()}
        count += len(children)
        open_ends += children.values()
    return count


def alive() -> int:
    """How many nodes there are in all, in the tree or held by something else."""
    gc.collect()
    return sum(isinstance(item, Node) for item in gc.get_objects())


@pytest.mark.slow
@pytest.mark.usefixtures("backend")
def test_ten_thousand_steps_are_flat() -> None:
    model = nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Dropout(0.1), nn.Linear(64, 10)).to("lazycore")
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 10_000)

    def step() -> None:
        x, y = torch.randn(16, 32).to("lazycore"), torch.randint(0, 10, (16,)).to("lazycore")
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        schedule.step()
        assert loss.item() > 0

    for _ in range(1000):
        step()
    states, kept, memory = settle(), nodes(), resident()
    for _ in range(9000):
        step()
    assert settle() == states
    assert nodes() == kept
    # A hundred bytes a step would be 0.9 MB.
    assert resident() - memory < 2 * MB


def unlike_any_other(size: int) -> None:
    """A program of a size of its own, observed."""
    x = torch.ones(size, 3).to("lazycore")
    result = ((x * 2 + 1).relu() @ torch.ones(3, 2).to("lazycore")).sum()
    assert result.item() == size * 18


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::lazycore.report.recompiles.RecompileWarning")
def test_shapes_that_never_repeat_are_forgotten(backend: str) -> None:
    """The tree forgets, and executables go with it; jax's own caches are full after some 700 programs."""
    first, last, growth = {"reference": (500, 3000, 4 * MB), "xla": (800, 1100, 8 * MB)}[backend]
    for size in range(1, first):
        unlike_any_other(size)
    kept, memory = alive(), resident()
    for size in range(first, last):
        unlike_any_other(size)
    assert tree.limits.plans == 256
    assert nodes() <= 256 * 8
    assert alive() <= kept + 16
    assert resident() - memory < growth
    lazycore.sync()
