"""What lazycore is to reach, as multiples of other ways' figures in the same run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bench.ways import LAZYCORE

__all__ = ["TARGETS", "Target", "Verdict", "verdicts"]


@dataclass(frozen=True)
class Target:
    """lazycore takes at most ``limit`` times what ``way`` takes, ``besides`` which it may take what another
    measurement of the row says of it. ``why``: what a miss comes from."""

    part: str
    program: str
    what: str
    way: str
    limit: float
    why: str = ""
    besides: str = ""


@dataclass(frozen=True)
class Verdict:
    """A target beside the ratio that was measured."""

    target: Target
    ratio: float

    @property
    def met(self) -> bool:
        return self.ratio <= self.target.limit


_DISPATCH = "each call goes through the dispatcher into Python, and makes a tensor with a storage of its own"
_BACKWARD = "the engine asks the guard of a device written in Python for its type five times in each node"
_SMALL_STEP = (
    "a step is recorded call by call and launched in Python, where jax makes one call; the rest of the step before "
    "hides a part of it"
)
_FASTER_EAGER = (
    "a few products, which run as fast as the processor can, are most of such a step; what recording and launching "
    "cost comes on top, as far as the rest of the step before does not hide it"
)
_PRODUCTS = (
    "XLA's program alone, launched and waited for, takes about what jax takes with its memory kept, 0.9 of eager's "
    "step: its products are as fast as MKL's. Recording and launching add 6 to 7 ms, where eager's own calls take 3 "
    "(the same program 4 wide). Nothing is gained by hiding them: launched by itself, neither forward pass nor "
    "backward pass nor optimizer made a step shorter, as XLA divides each product among all cores and waits for the "
    "slower one; nor did lower priorities of its threads, more or fewer of them, or its options of scheduling"
)
_CONVOLUTIONS = "where ATen cannot be called convolutions are XLA's, which take 1.5 to 2 times as long as oneDNN's"
_CELLS = "each of the 32 cells is recorded call by call, and so are their gradients"
_PYTHON_LAUNCH = (
    "each input is unpacked and each result wrapped in Python, a donated one is proved to have no other owner, and "
    "an optimizer's corrections are run-time numbers, one for each parameter. With a call that does nothing in place "
    "of the executable's a launch still takes 0.56 ms for gpt and 0.14 for mlp"
)
_MEMORY = "freed memory stays with the process; `memory returned` and jax's `memory kept` show what that costs"

TARGETS: Sequence[Target] = (
    Target("trace", "functional", "us a call", "eager", 2.8, _DISPATCH),
    Target("trace", "with gradient", "us a call", "eager", 3.0, _DISPATCH),
    Target("trace", "in place", "us a call", "eager", 3.0, _DISPATCH),
    Target("trace", "views", "us a call", "bare redispatch", 1.2, "bounds are checked in Python, as torch does not"),
    Target("trace", "backward", "us a call", "eager", 3.2, _BACKWARD),
    Target("steps", "gpt", "record ms", "eager's step", 0.6, _DISPATCH),
    Target("steps", "resnet", "record ms", "eager's step", 0.2, _DISPATCH),
    Target("steps", "lstm", "record ms", "eager's step", 1.3, _CELLS),
    Target("steps", "gpt", "step ms", "jax", 0.6, _PRODUCTS),
    Target("steps", "gpt", "step ms", "eager", 0.95, _PRODUCTS),
    Target("steps", "gpt", "step ms", "torch.compile", 1.05, _PRODUCTS),
    Target("steps", "mlp", "step ms", "jax", 1.3, _SMALL_STEP),
    Target("steps", "mlp", "step ms", "eager", 1.0, _FASTER_EAGER),
    Target("steps", "mlp sgd", "step ms", "jax", 1.3, _SMALL_STEP),
    Target("steps", "mlp sgd", "step ms", "eager", 1.0, _FASTER_EAGER),
    Target("steps", "resnet", "step ms", "jax", 0.75, _CONVOLUTIONS),
    Target("steps", "lstm", "step ms", "jax", 1.1, _CELLS, besides="record ms"),
    Target("launch", "mlp", "launch ms", "bare call", 1.15, _PYTHON_LAUNCH),
    Target("launch", "gpt", "launch ms", "bare call", 1.15, _PYTHON_LAUNCH),
    *(Target("start", program, f"peak MiB, with {state}", "jax", 1.3, _MEMORY)
      for program in ("mlp", "gpt", "resnet", "lstm") for state in ("compiling", "warm caches")),
)  # fmt: skip


def verdicts(part: str, rows: Sequence[Mapping[str, Any]]) -> list[Verdict]:
    """The targets of a part of which the rows have both figures."""
    by_program = {row["program"]: row for row in rows}
    found = []
    for target in TARGETS:
        row = by_program.get(target.program, {})
        values = row.get(target.what, {})
        if target.part == part and LAZYCORE in values and target.way in values:
            allowed = row[target.besides][LAZYCORE] if target.besides else 0.0
            found.append(Verdict(target, (values[LAZYCORE] - allowed) / values[target.way]))
    return found
