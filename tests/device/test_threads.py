"""Several threads, each with a trace of its own, and one thread interrupted by its own finalizers and hooks."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from threading import Event
from typing import Any

import pytest
import torch

import lazycore
from lazycore.frontend.local import local


def together(*works: Callable[[], Any]) -> list[Any]:
    """Run each in a thread; their results."""
    with ThreadPoolExecutor(len(works)) as pool:
        return [future.result(120) for future in [pool.submit(work) for work in works]]


def train(device: str, seed: int, steps: int = 12, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    weight = torch.randn(3, 2, generator=generator, dtype=dtype).to(device).requires_grad_()
    optimizer = torch.optim.Adam([weight], lr=0.05)
    for _ in range(steps):
        data = torch.randn(4, 3, generator=generator, dtype=dtype).to(device)
        optimizer.zero_grad()
        (data @ weight).square().mean().backward()
        optimizer.step()
    return weight.detach().cpu()


def test_two_threads_train_two_models() -> None:
    got = together(*(lambda seed=seed: train("lazycore", seed) for seed in (1, 2)))
    for one, seed in zip(got, (1, 2), strict=True):
        torch.testing.assert_close(one, train("cpu", seed), rtol=1e-5, atol=1e-6)


def test_threads_train_exactly_while_another_synchronizes() -> None:
    trained = Event()

    def both() -> list[torch.Tensor]:
        try:
            return together(*(lambda s=s: train("lazycore", s, 60, torch.float64) for s in (1, 2)))
        finally:
            trained.set()

    def synchronize() -> int:
        for times in count():
            lazycore.sync()
            if trained.wait(0.001):
                return times
        raise AssertionError

    got, times = together(both, synchronize)
    assert times > 1
    for one, seed in zip(got, (1, 2), strict=True):
        torch.testing.assert_close(one, train("cpu", seed, 60, torch.float64), rtol=1e-12, atol=1e-13)


def test_a_thread_reads_what_another_has_recorded_only() -> None:
    x = torch.arange(4.0).to("lazycore") * 2.5
    assert x.untyped_storage().state.trace is local.trace
    assert together(x.tolist, lambda: (x + 1).tolist()) == [[0.0, 2.5, 5.0, 7.5], [1.0, 3.5, 6.0, 8.5]]
    x.add_(1)
    assert together(x.tolist) == [[1.0, 3.5, 6.0, 8.5]]


def test_a_thread_that_ends_leaves_its_values() -> None:
    (x,) = together(lambda: torch.ones(3).to("lazycore") * 2.5)
    assert (x * 2).tolist() == [5.0] * 3


def test_a_thread_reads_while_the_other_writes() -> None:
    x = torch.zeros(8).to("lazycore")

    def write() -> None:
        for _ in range(200):
            x.add_(1)

    def read() -> list[float]:
        return [x.mean().item() for _ in range(40)]

    _, seen = together(write, read)
    assert all(0 <= value <= 200 for value in seen)
    assert x.tolist() == [200.0] * 8


class Finalized:
    """Part of a cycle, so that the collector finds it; its finalizer uses the device."""

    def __init__(self, act: Callable[[], Any]) -> None:
        self.itself = self
        self.act = act

    def __del__(self) -> None:
        self.act()


@pytest.fixture
def thresholds() -> Iterator[range]:
    """Numbers of objects after which to collect: among so many, some fall between a call's operands and its record."""
    before = gc.get_threshold()
    yield range(1, 90, 29)
    gc.set_threshold(*before)


FINALIZERS: dict[str, Callable[[torch.Tensor], Any]] = {
    "records": lambda other: other.mul_(1.5).add_(0.25),
    "observes": lambda other: other.add_(1.25).sum().item(),
    "reads": lambda other: other.tolist(),
    "uploads": lambda other: other.add_(torch.ones(2).to(other.device) * 0.75),
    "syncs": lambda other: lazycore.sync(),  # noqa: ARG005
}


@pytest.mark.parametrize("name", FINALIZERS)
def test_finalizers_in_the_middle_of_calls(name: str, thresholds: range) -> None:
    """Ours and the finalizers' tensors both hold what the program and the finalizers made of them."""

    def program(device: str, threshold: int) -> list[torch.Tensor]:
        x, other = torch.tensor([1.0, 2.0]).to(device), torch.tensor([3.0, 5.0]).to(device)
        inputs = [torch.full((2,), i + 0.5).to(device) for i in range(3)]
        gc.collect()
        gc.set_threshold(threshold, 1000, 1000)
        Finalized(lambda: FINALIZERS[name](other))
        for i, value in enumerate(inputs):
            x = torch.add(x * (i + 0.3), value, alpha=0.7 + i)
            x.add_(value * 1.1, alpha=0.1 + i).clamp_(-50.25 - i, 50.75 + i)
        gc.set_threshold(100_000)
        gc.collect()
        return [x.cpu(), other.cpu()]

    expected = program("cpu", 1)
    for threshold in thresholds:
        for one, wanted in zip(program("lazycore", threshold), expected, strict=True):
            torch.testing.assert_close(one, wanted, rtol=1e-5, atol=1e-5)


def test_hooks_that_record_inside_backward() -> None:
    x = torch.tensor([1.0, 2.0]).to("lazycore").requires_grad_()
    seen: list[torch.Tensor] = []
    x.register_hook(lambda grad: seen.append(grad * 2.5) or grad + 1)
    (x * x).sum().backward()
    assert seen[0].tolist() == [5.0, 10.0]
    assert x.grad is not None
    assert x.grad.tolist() == [3.0, 5.0]


def test_an_optimizer_that_steps_inside_backward() -> None:
    def run(device: str) -> torch.Tensor:
        weights = [torch.full((2,), 1.0 + i).to(device).requires_grad_() for i in range(3)]
        optimizers = {weight: torch.optim.SGD([weight], lr=0.1) for weight in weights}

        def step(weight: torch.Tensor) -> None:
            optimizers[weight].step()
            weight.grad = None

        for weight in weights:
            weight.register_post_accumulate_grad_hook(step)
        for _ in range(4):
            (weights[0] * weights[1] * weights[2]).sum().backward()
        return torch.stack([w.detach().cpu() for w in weights])

    torch.testing.assert_close(run("lazycore"), run("cpu"))
