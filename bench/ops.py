"""One operator at a time by way: ``python -m bench.ops``.

Microseconds of a call by itself: on lazycore it is recorded, launched and waited for; by hand it is one ``jax.jit``.
The ways take turns in one process, and each figure is the smallest of the rounds' means, as noise only adds. Results
and gradients are compared, so that a way that computes something else does not count. ``torch.compile`` takes seconds
per operator, and part only where ``--ways`` names it.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Iterable, Mapping

import torch

import lazycore
from bench.op_cases import CASES, Case
from bench.op_ways import WAYS, Call
from bench.part import Options, Row, run
from lazycore.report.recompiles import RecompileWarning

__all__ = ["measure"]

KINDS = {"us forward": False, "us forward and backward": True}
DEFAULT = [way for way in WAYS if way != "torch.compile"]
WARM_UP = 3
# A round of a call lasts about so many seconds, so that the clock's own cost and a passing interruption are small.
ROUND = 4e-3


def measure(name: str, options: Options) -> Row:
    """A row of microseconds by kind and way; ``same loss``: whether all ways give the same values; ``eager ops``: what
    ran in PyTorch where a backend does not take it, by way."""
    case, rounds = CASES[name], 3 if options.quick else 7
    row: Row = {"program": name, "same loss": True, "eager ops": {}}
    torch.set_num_threads(options.threads)
    for kind, gradient in KINDS.items():
        if not gradient or case.gradient:
            calls = {way: _ready(way, case, gradient, row["eager ops"]) for way in options.ways}
            row["same loss"] &= _agree(calls.values())
            row[kind] = _best(calls, rounds)
    return row


def _ready(way: str, case: Case, gradient: bool, eager_ops: dict[str, list[str]]) -> Call:
    lazycore.reset_metrics()
    call = WAYS[way](case, gradient)
    with call.setting():
        for _ in range(WARM_UP):
            call.run()
    fallbacks = lazycore.metrics()["fallbacks"]
    if fallbacks:
        eager_ops[way] = sorted({*eager_ops.get(way, []), *fallbacks})
    return call


def _agree(calls: Iterable[Call]) -> bool:
    results = []
    for call in calls:
        with call.setting():
            results.append([t.to(torch.float64) for t in call.results()])
    first, *others = results
    return all(
        len(first) == len(other) and all(torch.allclose(a, b, 1e-3, 1e-3) for a, b in zip(first, other, strict=True))
        for other in others
    )


def _best(calls: Mapping[str, Call], rounds: int) -> dict[str, float]:
    counts = {way: max(1, int(ROUND / _seconds(call, 1))) for way, call in calls.items()}
    turns = [{way: _seconds(call, counts[way]) for way, call in calls.items()} for _ in range(rounds)]
    return {way: round(min(turn[way] for turn in turns) * 1e6, 2) for way in calls}


def _seconds(call: Call, count: int) -> float:
    with call.setting():
        start = time.perf_counter()
        for _ in range(count):
            call.run()
        return (time.perf_counter() - start) / count


if __name__ == "__main__":
    # Of what lazycore says of a program: that all operators are called at one line is no fault of this one.
    warnings.simplefilter("ignore", RecompileWarning)
    lazycore.config.placement = False
    sys.exit(run(__doc__, CASES, DEFAULT, measure))
