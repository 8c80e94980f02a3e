"""Programs as cases: ``optimizer/…`` (level 2), ``semantics/…`` and ``random/…`` (3), ``program/…`` (4)."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import torch
from lazycore_plugin_api import DType
from torch import Tensor

import lazycore
from lazycore.conformance.case import Case, Failed, Outcome, Status
from lazycore.conformance.context import Context
from lazycore.conformance.placement import placement_of
from lazycore.conformance.programs.randomness import DRAWS
from lazycore.conformance.programs.semantics import SEMANTICS
from lazycore.conformance.programs.training import MODELS, OPTIMIZERS, losses
from lazycore.conformance.tolerances import ACCUMULATED, FUNCTIONS, ulp
from lazycore.plugins import use_backend

__all__ = ["cases", "run"]

DEVICE = "lazycore"
_LOSS = 2 * (FUNCTIONS + ACCUMULATED) * ulp(DType.float32)
"""Relative: what a mean of logarithms and exponentials of sums may be off by, twice, as a few steps amplify it."""


def cases() -> list[Case]:
    """All of them."""
    found = [Case(2, f"optimizer/{name}") for name in OPTIMIZERS]
    found += [Case(3, f"semantics/{name}") for name in SEMANTICS]
    found += [Case(3, f"random/{name}/{stream}") for name in DRAWS for stream in ("cpu", "philox")]
    return found + [Case(4, f"program/{name}") for name in MODELS]


def run(case: Case, context: Context) -> Outcome:
    """Run a program here and there. Raises Failed where the results differ."""
    placement = placement_of(context.selection, lambda: context.foreign)
    _ = context.oracle
    outcome = Outcome(samples=1)
    placement.begin()
    _KINDS[case.group](case, context)
    lazycore.sync()
    placement.settle(outcome)
    if not outcome.executed and outcome.status is Status.passed:
        outcome.status, outcome.message = Status.unclaimed, "none of its operators ran on the backend"
    return outcome


def _optimizer(case: Case, _context: Context) -> None:
    _same_losses("mlp", case.name)


def _program(case: Case, _context: Context) -> None:
    _same_losses(case.name, "adamw")


def _same_losses(model: str, optimizer: str) -> None:
    expected, actual = (losses(model, optimizer, device) for device in ("cpu", DEVICE))
    for step, (right, mine) in enumerate(zip(expected, actual, strict=True)):
        if not math.isclose(right, mine, rel_tol=_LOSS, abs_tol=1e-6):
            raise Failed(f"{model} with {optimizer}: loss {mine:.7g} at step {step} where the CPU has {right:.7g}")
    if not expected[-1] < expected[0]:
        raise Failed(f"{model} with {optimizer} does not learn on the CPU either: {expected}")


def _semantics(case: Case, _context: Context) -> None:
    program = SEMANTICS[case.name]
    _same_tensors(program("cpu"), program(DEVICE))


def _random(case: Case, context: Context) -> None:
    name, _, stream = case.name.partition("/")
    program = DRAWS[name]
    lazycore.config.rng = stream
    try:
        mine = _drawn(program, DEVICE)
        if stream == "cpu":
            _same_tensors(_drawn(program, "cpu"), mine)
        elif context.name != "reference":
            with use_backend("reference"):
                right = _drawn(program, DEVICE)
            _same_tensors(right, mine)
        _same_tensors(mine, _drawn(program, DEVICE))
    finally:
        lazycore.config.rng = "cpu"


def _drawn(program: Callable[[str], Sequence[Tensor]], device: str) -> list[Tensor]:
    torch.manual_seed(1234)
    return [t.cpu() for t in program(device)]


def _same_tensors(expected: Sequence[Tensor], actual: Sequence[Tensor]) -> None:
    for position, (right, mine) in enumerate(zip(expected, actual, strict=True)):
        what = f"result {position}"
        if right.dtype is not mine.dtype or right.shape != mine.shape:
            raise Failed(f"{what} is {mine.dtype}{list(mine.shape)}, the CPU has {right.dtype}{list(right.shape)}")
        here = mine.cpu()
        same = torch.equal(right.isnan(), here.isnan()) and torch.equal(right.nan_to_num(), here.nan_to_num())
        if not same or (right.is_floating_point() and not _same_signs(right, here)):
            raise Failed(f"{what} is {here.tolist()}, the CPU has {right.tolist()}"[:600])


def _same_signs(right: Tensor, mine: Tensor) -> bool:
    number = ~right.isnan()
    return torch.equal(right.signbit() & number, mine.signbit() & number)


_KINDS: dict[str, Callable[[Case, Context], None]] = {
    "optimizer": _optimizer,
    "semantics": _semantics,
    "random": _random,
    "program": _program,
}
