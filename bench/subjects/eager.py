"""PyTorch on its CPU device, as it is or with the module compiled; the optimizer is PyTorch's own."""

from __future__ import annotations

import torch
from torch import nn

from bench.programs import Program
from bench.subjects.step import BETAS, DECAY, EPSILON, RATE, Step

__all__ = ["step"]


def step(program: Program, compiled: bool = False, device: str = "cpu") -> Step:
    """A step of the program on a device of PyTorch's."""
    torch.manual_seed(0)
    module = program.module().to(device)
    *inputs, targets = (t.to(device) for t in program.batch())
    optimizer = _optimizer(program, module)
    forward = torch.compile(module) if compiled else module
    last: list[torch.Tensor] = []

    def run() -> None:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(forward(*inputs), targets)
        loss.backward()
        optimizer.step()
        last[:] = [loss.detach()]

    return Step(run, lambda: last[0].item())


def _optimizer(program: Program, module: nn.Module) -> torch.optim.Optimizer:
    if program.optimizer == "sgd":
        return torch.optim.SGD(module.parameters(), RATE)
    return torch.optim.AdamW(module.parameters(), RATE, BETAS, EPSILON, DECAY)
