"""``vendor/<name>``: the cases that a plugin's profile adds. They can fail a level, and never pass one alone."""

from __future__ import annotations

import re
import traceback
from pathlib import Path

from lazycore_plugin_api import CheckCase, GraphCase, InvalidGraph, Profile, Rejected, verify
from lazycore_plugin_api.difference import Tolerance

from lazycore.conformance.case import VENDOR, Case, Failed, Outcome
from lazycore.conformance.context import Context
from lazycore.conformance.graph.check import check_values, compiled, run_segment
from lazycore.conformance.levels import LEVELS
from lazycore.conformance.placement import label_of

__all__ = ["cases", "own_cases", "run"]

_NAME = re.compile(r"[\w.-]+(/[\w.-]+)*")


def cases() -> list[Case]:
    """None that every backend has."""
    return []


def own_cases(profile: Profile) -> list[Case]:
    """The profile's. Raises Failed for one that is no case, or has a name or level that cannot be."""
    found: dict[str, Case] = {}
    for own in profile.cases:
        what = f"the profile's case {getattr(own, 'name', own)!r}"
        if not isinstance(own, GraphCase | CheckCase):
            raise Failed(f"{what} is neither a GraphCase nor a CheckCase")
        if not _NAME.fullmatch(own.name) or own.name in found:
            raise Failed(f"{what} has a name that is taken, or is not of letters, digits and ._-/")
        if own.level not in range(len(LEVELS)):
            raise Failed(f"{what} is of level {own.level!r}; levels are 0 to {len(LEVELS) - 1}")
        found[own.name] = Case(own.level, f"{VENDOR}/{own.name}")
    return list(found.values())


def run(case: Case, context: Context) -> Outcome:
    """Run the case of that name. Raises Failed where the backend fails it, or it is no case."""
    own = next((own for own in context.profile.cases if own.name == case.name), None)
    if own is None:
        raise Failed(f"the profile has no case {case.name!r} any more")
    return _checked(own) if isinstance(own, CheckCase) else _compared(own, context)


def _checked(own: CheckCase) -> Outcome:
    try:
        own.check()
    except Exception as error:
        last = traceback.extract_tb(error.__traceback__)[-1]
        place = f"{Path(last.filename).name}:{last.lineno}"
        raise Failed(f"{type(error).__name__} at {place}: {error}") from error
    return Outcome(samples=1)


def _compared(own: GraphCase, context: Context) -> Outcome:
    try:
        verify(own.segment)
    except InvalidGraph as error:
        raise Failed(f"the segment of {own.name!r} is none: {error}") from error
    expected = context.oracle.expected(own.segment, own.arrays)
    if expected is None:
        raise Failed(f"neither the reference backend nor PyTorch computes the segment of {own.name!r}")
    outcome = Outcome(samples=1)
    for node in own.segment.nodes:
        decision = context.decision(node)
        if isinstance(decision, Rejected):
            raise Failed(f"the backend does not take {node.op} of its own case: {decision.reason}")
    executable = compiled(context.backend, own.segment)
    outputs = run_segment(context.backend, executable, own.segment, own.arrays, context.foreign)
    outcome.executed = outcome.claimed = {label_of(node) for node in own.segment.nodes}
    fixed = None if own.tolerance is None else Tolerance(*own.tolerance)
    outcome.tolerances = check_values(own.segment, outputs, expected, context.profile.tolerances, fixed=fixed)
    return outcome
