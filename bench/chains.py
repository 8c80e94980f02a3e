"""Chains of 200 small calls on 4 x 4 tensors, where the arithmetic costs next to nothing."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

import torch

import lazycore

__all__ = ["CHAINS", "OPS", "Chain"]

LINKS = 67
OPS = 3 * LINKS
Operands = Sequence[torch.Tensor]


class Chain:
    """The calls on one device. ``seconds()`` runs them once and waits afterwards, which does not count."""

    requires_grad = False

    def __init__(self, device: str) -> None:
        self.operands = [torch.rand(4, 4).to(device) for _ in range(3)]
        self.operands[1].requires_grad_(self.requires_grad)

    def seconds(self) -> float:
        start = time.perf_counter()
        result = self.calls(*self.operands)
        seconds = time.perf_counter() - start
        lazycore.sync()
        del result
        return seconds

    @staticmethod
    def calls(x: torch.Tensor, scale: torch.Tensor, shift: torch.Tensor) -> torch.Tensor:
        """What is timed; all operands are (4, 4)."""
        for _ in range(LINKS):
            x = torch.relu(x * scale + shift)
        return x


class Differentiable(Chain):
    """With an operand that requires a gradient."""

    requires_grad = True


class InPlace(Chain):
    """Each call writes the one tensor."""

    @staticmethod
    def calls(x: torch.Tensor, scale: torch.Tensor, shift: torch.Tensor) -> torch.Tensor:
        for _ in range(LINKS):
            x.mul_(scale).add_(shift).relu_()
        return x


class Views(Chain):
    """Each call makes a view of the view before."""

    @staticmethod
    def calls(x: torch.Tensor, scale: torch.Tensor, shift: torch.Tensor) -> torch.Tensor:  # noqa: ARG004
        for _ in range(LINKS):
            x = x.transpose(0, 1).transpose(0, 1).view(4, 4)
        return x


class Backward(Differentiable):
    """The backward pass, by forward call."""

    def seconds(self) -> float:
        result = self.calls(*self.operands)
        start = time.perf_counter()
        result.backward(self.operands[2])
        seconds = time.perf_counter() - start
        lazycore.sync()
        self.operands[1].grad = None
        return seconds


CHAINS: dict[str, Callable[[str], Chain]] = {
    "functional": Chain, "with gradient": Differentiable, "in place": InPlace, "views": Views, "backward": Backward,
}  # fmt: skip
