"""``fuzz/seed-N``: a graph of a seed, and where it is wrong, the smallest part that is."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence

from lazycore_plugin_api import Segment, Supported, to_text, verify
from lazycore_plugin_api.difference import Tolerance, compare

from lazycore.conformance.case import Case, Failed, Outcome, Status
from lazycore.conformance.context import Context
from lazycore.conformance.fuzz.graphs import OPS, Choice, built, chosen_at_random
from lazycore.conformance.graph.check import compiled, run_segment

__all__ = ["cases", "run"]

SEEDS = 60
SIZE = 24
# Rounding grows over a chain of operators, whose values stay near 1.
_TOLERANCE = Tolerance(2e-4, 2e-5)


def cases() -> list[Case]:
    """One per seed."""
    return [Case(3, f"fuzz/seed-{seed}") for seed in range(SEEDS)]


def run(case: Case, context: Context) -> Outcome:
    """Run the graph of the seed, of the ops that the backend takes."""
    outcome = Outcome()
    choices = chosen_at_random(int(case.name.removeprefix("seed-")), SIZE)
    found = _difference(choices, context)
    if isinstance(found, Segment):
        outcome.samples = 1
        outcome.executed = outcome.claimed = {f"{node.op} float32" for node in found.nodes}
    elif found is None:
        outcome.status, outcome.message = Status.unclaimed, "it takes none of the operators of the graph"
    else:
        outcome.fail(_smallest(choices, found, context))
    return outcome


def _difference(choices: Sequence[Choice], context: Context) -> Segment | str | None:
    """The segment where the backend is right, what is wrong where it is not, None where it takes nothing."""
    segment, arrays = built([c for c in choices if _is_taken(c, choices, context)])
    if not segment.nodes:
        return None
    verify(segment)
    expected = context.oracle.expected(segment, arrays)
    if expected is None:
        return None
    try:
        outputs = run_segment(context.backend, compiled(context.backend, segment), segment, arrays, context.foreign)
    except Failed as error:
        return f"{error}\n{to_text(segment)}"
    for position, (mine, right) in enumerate(zip(outputs, expected, strict=True)):
        difference = compare(position, mine, right, _TOLERANCE)
        if difference is not None:
            return f"output {position}: {difference}\n{to_text(segment)}"
    return segment


def _is_taken(choice: Choice, choices: Sequence[Choice], context: Context) -> bool:
    """Whether the backend takes every use of the op in this graph."""
    segment, _ = built(choices)
    mine = [node for node in segment.nodes if node.op == OPS[choice.op][0]]
    return all(isinstance(context.decision(node), Supported) for node in mine)


def _smallest(choices: Sequence[Choice], found: str, context: Context) -> str:
    if importlib.util.find_spec("hypothesis") is None:
        return _shorter(choices, found, context)
    from hypothesis import HealthCheck, Phase, find, settings
    from hypothesis import strategies as st
    from hypothesis.errors import NoSuchExample

    kept = st.lists(st.sampled_from(range(len(choices))), unique=True, min_size=1).map(sorted)
    options = settings(
        max_examples=150, database=None, deadline=None, derandomize=True, phases=(Phase.generate, Phase.shrink),
        suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    try:
        best = find(kept, lambda places: _is_wrong([choices[p] for p in places], context), settings=options)
    except NoSuchExample:  # none of the parts that it tried is wrong
        return _shorter(choices, found, context)
    return _shorter([choices[p] for p in best], found, context)


def _shorter(choices: Sequence[Choice], found: str, context: Context) -> str:
    """Drop one choice after the other, as long as it stays wrong: what hypothesis leaves, or all without it."""
    kept = list(choices)
    for choice in choices:
        rest = [c for c in kept if c is not choice]
        if rest and _is_wrong(rest, context):
            kept = rest
    smaller = _difference(kept, context)
    return smaller if isinstance(smaller, str) else found


def _is_wrong(choices: Sequence[Choice], context: Context) -> bool:
    return isinstance(_difference(choices, context), str)
