"""Programs that a process of its own runs: ``python -m lazycore.conformance.endurance.scenes SCENE BACKEND``.

Each prints what its case reads. They need a process: for the cache's settings, to be killed, to be two at once.
"""

from __future__ import annotations

import os
import sys
import threading
import warnings
from collections.abc import Callable

import torch

import lazycore
from lazycore.conformance.programs.training import losses

__all__ = ["SCENES"]


def train() -> None:
    """Loss, then how many programs were compiled and loaded."""
    found = losses("mlp", "adamw", "lazycore", 3)
    counts = lazycore.metrics()
    print(f"{found[-1]:.6f} {counts['compiles']} {counts['cache_loads']}")


def forever() -> None:
    """Compile one program after another, each stored, until somebody ends the process, or the one that started it."""
    print("begun", flush=True)
    x = torch.ones(3, device="lazycore")
    parent = os.getppid()
    for number in range(1, 100_000):
        if os.getppid() != parent:
            return
        (x * float(number) + torch.ones(number % 50 + 1, 1, device="lazycore")).cpu()


def threads() -> None:
    """The losses of two models, each trained in a thread of its own at the same time."""
    found: dict[str, float] = {}

    def work(model: str) -> None:
        with torch.random.fork_rng(devices=[]):
            found[model] = losses_alone(model)

    both = [threading.Thread(target=work, args=(model,)) for model in ("a", "b")]
    for thread in both:
        thread.start()
    for thread in both:
        thread.join()
    print(f"{found['a']:.6f} {found['b']:.6f}")


def losses_alone(name: str) -> float:
    """A little regression that draws nothing at random, so that threads do not share a stream. It ends at one loss."""
    scale = {"a": 1.0, "b": 2.0}[name]
    x = torch.linspace(-1, 1, 40).reshape(10, 4).to("lazycore")
    w = torch.full((4, 2), 0.1 * scale, device="lazycore", requires_grad=True)
    loss = x.sum()
    for _ in range(10):
        loss = ((x @ w - scale) ** 2).mean()
        (gradient,) = torch.autograd.grad(loss, [w])
        w = (w - 0.1 * gradient).detach().requires_grad_()
    return float(loss)


def alone() -> None:
    """What ``threads`` must print, without threads."""
    print(f"{losses_alone('a'):.6f} {losses_alone('b'):.6f}")


SCENES: dict[str, Callable[[], None]] = {"train": train, "forever": forever, "threads": threads, "alone": alone}

if __name__ == "__main__":
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    lazycore.config.placement = False
    lazycore.use_backend(sys.argv[2])
    SCENES[sys.argv[1]]()
