"""What recording an op costs, beside running it in PyTorch eager on CPU: ``python bench/trace.py``.

A chain of 201 ops (mul, add, relu in turn) on 4 x 4 tensors, where the arithmetic itself costs next to nothing. On
lazycore only the recording of a trace that was seen before is timed; the barrier lies outside. The two devices take
turns, and each figure is the smallest of the rounds' medians.
"""

from __future__ import annotations

import gc
import statistics
import time
from dataclasses import dataclass

import torch

import lazycore

LINKS = 67
OPS = 3 * LINKS
ROUNDS, REPEATS, WARM_UP = 7, 15, 4
TARGETS = {False: 3.5, True: 4.0}
"""requires_grad -> how many times eager's cost is aimed at."""


def chain(x: torch.Tensor, scale: torch.Tensor, shift: torch.Tensor) -> torch.Tensor:
    """The timed ops; x, scale and shift are (4, 4)."""
    for _ in range(LINKS):
        x = torch.relu(x * scale + shift)
    return x


@dataclass
class Subject:
    """The chain on one device, with or without a differentiable operand."""

    device: str
    requires_grad: bool

    def __post_init__(self) -> None:
        self.operands = [torch.rand(4, 4).to(self.device) for _ in range(3)]
        self.operands[1].requires_grad_(self.requires_grad)
        for _ in range(WARM_UP):
            self.once()

    def once(self) -> float:
        """Seconds of one chain. What it recorded is executed afterwards, and not counted."""
        start = time.perf_counter()
        result = chain(*self.operands)
        seconds = time.perf_counter() - start
        lazycore.sync()
        del result
        return seconds

    def round(self) -> float:
        """The median cost of an op, in microseconds."""
        return statistics.median(self.once() for _ in range(REPEATS)) / OPS * 1e6


def measure(requires_grad: bool) -> tuple[float, float]:
    """Microseconds an op on lazycore and on eager; rounds interleaved, garbage collection off as in ``timeit``."""
    subjects = [Subject(device, requires_grad) for device in ("lazycore", "cpu")]
    gc.disable()
    try:
        rounds = [[subject.round() for subject in subjects] for _ in range(ROUNDS)]
    finally:
        gc.enable()
    lazy, eager = (min(costs) for costs in zip(*rounds, strict=True))
    return lazy, eager


def main() -> None:
    torch.set_num_threads(1)
    print(f"{'requires_grad':>13}  {'lazycore':>12}  {'eager':>12}  {'ratio':>6}  target")
    for requires_grad, target in TARGETS.items():
        lazy, eager = measure(requires_grad)
        verdict = "met" if lazy / eager <= target else "MISSED"
        row = f"{requires_grad!s:>13}  {lazy:>6.2f} us/op  {eager:>6.2f} us/op  {lazy / eager:>5.2f}x"
        print(f"{row}  <= {target}x {verdict}")


if __name__ == "__main__":
    main()
