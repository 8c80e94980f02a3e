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


TARGETS: Sequence[Target] = (
    Target("trace", "functional", "us a call", "eager", 2.8),
    Target("trace", "with gradient", "us a call", "eager", 3.0),
    Target("trace", "in place", "us a call", "eager", 3.0),
    Target("trace", "views", "us a call", "bare redispatch", 1.2),
    Target("trace", "backward", "us a call", "eager", 3.2),
    Target("steps", "gpt", "record ms", "eager's step", 0.6),
    Target("steps", "resnet", "record ms", "eager's step", 0.2),
    Target("steps", "lstm", "record ms", "eager's step", 1.3),
    Target("steps", "gpt", "step ms", "jax", 0.6),
    Target("steps", "gpt", "step ms", "eager", 0.95),
    Target("steps", "gpt", "step ms", "torch.compile", 1.05),
    Target("steps", "mlp", "step ms", "jax", 1.3),
    Target("steps", "mlp", "step ms", "eager", 1.0),
    Target("steps", "mlp sgd", "step ms", "jax", 1.3),
    Target("steps", "mlp sgd", "step ms", "eager", 1.0),
    Target("steps", "resnet", "step ms", "jax", 0.75),
    Target("steps", "lstm", "step ms", "jax", 1.1, besides="record ms"),
    Target("launch", "mlp", "launch ms", "bare call", 1.15),
    Target("launch", "gpt", "launch ms", "bare call", 1.15),
    *(Target("start", program, f"peak MiB, with {state}", "jax", 1.3)
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
