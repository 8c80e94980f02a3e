"""Runs a random program on both devices at once and holds every value it reads against CPU eager's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch

import lazycore

from .views import VIEWS
from .writes import ANY_OVERLAP, ONLY_WARN, RESULTS, WRITES

__all__ = ["BARRIERS", "BASES", "Machine", "Step"]

BASES: dict[str, torch.Tensor] = {
    "rows": torch.arange(12.0).reshape(3, 4) - 3,
    "ints": torch.arange(16).reshape(2, 2, 4) - 5,
    "vector": torch.linspace(-2, 2, 9),
    "turned": (torch.arange(24.0).reshape(2, 3, 4) - 7).permute(2, 0, 1),
    "number": torch.tensor(1.25),
    "empty": torch.ones(0, 3),
    "complex": torch.complex(torch.arange(6.0), -torch.arange(6.0)).reshape(2, 3),
}
BARRIERS = ("read", "item", "sync")
_POOL = 6
_MOST = 400


@dataclass(frozen=True)
class Step:
    """``op`` of the tensor number ``at``, with ``other`` as its second operand, both modulo the pool's size."""

    op: str
    at: int
    other: int
    picks: tuple[int, int, int, int]


Outcome = torch.Tensor | Exception | None


class Machine:
    """Pairs of a CPU tensor and its lazycore twin."""

    def __init__(self, bases: Sequence[str]) -> None:
        # Twins keep their base's strides, so that aliasing through geometry is the same on both sides.
        self.pool = [(twin := BASES[name].clone(), twin.to("lazycore")) for name in bases]

    def run(self, steps: Sequence[Step]) -> None:
        """All steps, then a read of every tensor. Raises AssertionError where the devices differ."""
        for step in steps:
            self.step(step)
        for cpu, lazy in self.pool:
            same(lazy, cpu)

    def step(self, step: Step) -> None:
        """One step on both devices: equal results, or exceptions of one type."""
        cpu, lazy = self.pool[step.at % len(self.pool)]
        cpu_other, lazy_other = self.pool[step.other % len(self.pool)]
        if step.op in BARRIERS:
            _barrier(step.op, cpu, lazy)
        elif step.op in WRITES and not _defined(step.op, cpu, cpu_other):
            return
        else:
            expected, got = _outcome(step, cpu, cpu_other), _outcome(step, lazy, lazy_other)
            self._keep(step, expected, got)

    def _keep(self, step: Step, expected: Outcome, got: Outcome) -> None:
        if isinstance(expected, Exception) or isinstance(got, Exception):
            assert type(got) is type(expected), f"{step}: {got!r} where CPU has {expected!r}"
        elif expected is not None:
            assert got is not None
            assert got.shape == expected.shape
            assert got.dtype == expected.dtype
            if expected.numel() and expected.numel() <= _MOST:
                self.pool.append((expected, got))
                del self.pool[: max(0, len(self.pool) - _POOL)]


def _outcome(step: Step, x: torch.Tensor, other: torch.Tensor) -> Outcome:
    try:
        if step.op in VIEWS:
            return VIEWS[step.op](x, step.picks)
        return (WRITES | RESULTS)[step.op](x, other, step.picks)
    except (RuntimeError, IndexError, TypeError, ValueError) as error:
        return error


def _barrier(op: str, cpu: torch.Tensor, lazy: torch.Tensor) -> None:
    if op == "sync":
        lazycore.sync()
    elif op == "item" and cpu.numel():
        same(torch.tensor(lazy.flatten()[0].item()), torch.tensor(cpu.flatten()[0].item()))
    else:
        same(lazy, cpu)


def _defined(op: str, target: torch.Tensor, source: torch.Tensor) -> bool:
    """Whether CPU's result is defined or refused: it is neither where several elements of the target, or one of it and
    another one of the source, share memory in a way that torch cannot tell."""
    if op in ANY_OVERLAP or not target.numel():
        return True
    told = any(step == 0 and extent > 1 for extent, step in zip(target.shape, target.stride(), strict=True))
    places = _places(target)
    if places.unique().numel() != places.numel():
        return told and op not in ONLY_WARN
    shared = target.untyped_storage().data_ptr() == source.untyped_storage().data_ptr()
    if not shared or target is source or (_dense(target) and _dense(source)):
        return True
    return not bool(torch.isin(_places(source), places).any())


def _dense(x: torch.Tensor) -> bool:
    return torch.ops.aten.is_non_overlapping_and_dense.default(x)


def _places(x: torch.Tensor) -> torch.Tensor:
    """The bytes at which the elements begin and all bytes they take, for each of them."""
    nbytes = x.untyped_storage().nbytes()
    starts = torch.arange(nbytes + 1).as_strided(
        x.shape, [s * x.element_size() for s in x.stride()], x.storage_offset() * x.element_size()
    )
    return (starts.reshape(-1, 1) + torch.arange(x.element_size())).flatten()


def same(lazy: torch.Tensor, cpu: torch.Tensor) -> None:
    """Equal in shape, dtype and every value; NaN equals NaN."""
    expected = cpu.detach().resolve_conj().resolve_neg()
    torch.testing.assert_close(lazy.detach().cpu(), expected, rtol=1e-6, atol=1e-6, equal_nan=True)
