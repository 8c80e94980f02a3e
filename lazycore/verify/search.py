"""From a segment that is wrong to the fewest of its ops that still are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from lazycore.verify.trial import Bench, Trial

__all__ = ["smallest"]


def smallest(bench: Bench) -> Trial | None:
    """The smallest part found that is wrong with its true inputs; None where the whole segment, compiled once more and
    without donated inputs, is right.

    First the shortest prefix that is wrong; then its last node alone; where that is right, nodes are dropped from the
    prefix as long as it stays wrong.
    """
    count = len(bench.segment.nodes)
    whole = bench.attempt(bench.part(range(count)))
    if whole is None:
        return None
    end, trial = _prefix(bench, whole)
    alone = bench.attempt(bench.part([end - 1]))
    if alone is not None:
        return _narrowed(bench, alone)
    return _narrowed(bench, _reduced(bench, list(range(end)), trial))


def _prefix(bench: Bench, whole: Trial) -> tuple[int, Trial]:
    """The end of a wrong prefix whose predecessor is right."""
    right, wrong, trial = 0, len(bench.segment.nodes), whole
    while wrong - right > 1:
        middle = (right + wrong) // 2
        attempt = bench.attempt(bench.part(range(middle)))
        if attempt is None:
            right = middle
        else:
            wrong, trial = middle, attempt
    return wrong, trial


def _reduced(bench: Bench, kept: list[int], trial: Trial) -> Trial:
    size = max(len(kept) // 2, 1)
    while True:
        before = len(kept)
        kept, trial = _drop(bench, kept, size, trial)
        if size > 1:
            size //= 2
        elif len(kept) == before:
            return trial


def _drop(bench: Bench, kept: list[int], size: int, trial: Trial) -> tuple[list[int], Trial]:
    """One round of leaving out ``size`` nodes at a time."""
    start = 0
    while start < len(kept):
        rest = kept[:start] + kept[start + size :]
        attempt = bench.attempt(bench.part(rest)) if rest else None
        if attempt is None:
            start += size
        else:
            kept, trial = rest, attempt
    return kept, trial


def _narrowed(bench: Bench, trial: Trial) -> Trial:
    """The same nodes with one wrong output only, if that is enough."""
    for difference in trial.differences:
        wrong: Sequence[int] = [difference.output]
        if len(trial.segment.outputs) == len(wrong):
            return trial
        outputs = tuple(trial.segment.outputs[p] for p in wrong)
        attempt = bench.attempt(replace(trial.segment, outputs=outputs))
        if attempt is not None:
            return attempt
    return trial
