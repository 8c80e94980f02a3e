"""What recording a call costs, beside running it in PyTorch eager on CPU: ``python -m bench.trace``.

Chains of 201 calls on 4 x 4 tensors. On lazycore only the recording of a trace that was seen before is timed; the
barrier lies outside. The ways take turns, and each figure is the smallest of the rounds' medians. ``bare redispatch``
are views by a kernel that does nothing but hand the call on to torch's. The backward pass is by forward call; ``eager's
forward`` is that call on eager.
"""

from __future__ import annotations

import gc
import statistics
import sys
from collections.abc import Callable, Mapping

import torch

from bench.bare import bare_views
from bench.chains import CHAINS, OPS
from bench.part import Options, Row, run
from bench.ways import LAZYCORE

__all__ = ["measure"]

REPEATS, WARM_UP = 15, 4
Timed = Callable[[], float]


def measure(program: str, options: Options) -> Row:
    """A row of microseconds a call, on one thread."""
    torch.set_num_threads(1)
    return {"program": program, "us a call": _interleaved(_ways(program), 3 if options.quick else 7)}


def _ways(program: str) -> Mapping[str, Timed]:
    chain = CHAINS[program]
    lazy, eager = chain(LAZYCORE).seconds, chain("cpu").seconds
    ways = {LAZYCORE: lazy, "eager": eager}
    if program == "views":
        ways["bare redispatch"] = _bare(lazy)
    elif program == "backward":
        ways["eager's forward"] = CHAINS["with gradient"]("cpu").seconds
    return ways


def _bare(seconds: Timed) -> Timed:
    def timed() -> float:
        with bare_views():
            return seconds()

    return timed


def _interleaved(ways: Mapping[str, Timed], rounds: int) -> dict[str, float]:
    for seconds in ways.values():
        for _ in range(WARM_UP):
            seconds()
    gc.collect()
    gc.disable()  # as timeit does
    try:
        turns = [{way: _median(seconds) for way, seconds in ways.items()} for _ in range(rounds)]
    finally:
        gc.enable()
    return {way: round(min(turn[way] for turn in turns), 3) for way in ways}


def _median(seconds: Timed) -> float:
    return statistics.median(seconds() for _ in range(REPEATS)) / OPS * 1e6


if __name__ == "__main__":
    sys.exit(run(__doc__, CHAINS, (LAZYCORE,), measure))
