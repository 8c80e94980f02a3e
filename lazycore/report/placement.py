"""The line that says, at a program's end, what ran where."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

__all__ = ["summary"]

SHOWN = 5


def summary(counts: Mapping[str, Any], backends: Sequence[object]) -> str:
    """One line from the counters that ``lazycore.metrics()`` returns and the backends in use:
    ``lazycore: xla:cpu: 9312 ops in 48 syncs (46 cached), 2 compiles in 0.81 s; eager: nothing``."""
    if not counts["ops_recorded"]:
        return "lazycore: no op ran on the lazycore device"
    names = ", ".join(map(str, backends)) or "no backend"
    ran = f"{_count(counts['ops_recorded'], 'op')} in {_count(counts['syncs'], 'sync')} ({counts['cache_hits']} cached)"
    compiled = f"{_count(counts['compiles'], 'compile')} in {counts['compile_seconds']:.2f} s"
    if counts["cache_loads"]:
        compiled += f", {counts['cache_loads']} loaded in {counts['load_seconds']:.2f} s"
    return f"lazycore: {names}: {ran}, {compiled}; eager: {_eager(counts['fallbacks'])}"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _eager(fallbacks: Mapping[str, int]) -> str:
    ordered = sorted(fallbacks.items(), key=lambda item: (-item[1], item[0]))
    shown = [f"{op} \N{MULTIPLICATION SIGN}{count}" for op, count in ordered[:SHOWN]]
    more = [f"{len(ordered) - SHOWN} more"] if len(ordered) > SHOWN else []
    return ", ".join(shown + more) or "nothing"
