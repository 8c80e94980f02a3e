"""A run of the suite: which cases, in worker processes, judged against the vendor's profile."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from lazycore.conformance.case import VENDOR, Case, Outcome, Status
from lazycore.conformance.journal import Journal
from lazycore.conformance.suite import Runner
from lazycore.conformance.survey import Request, chosen, described, listed, stale
from lazycore.conformance.workers import Failure, Workers, run_cases

__all__ = ["Report", "Request", "Session", "chosen", "counts", "judged", "run_suite"]

Told = Callable[[int, int, Case, Outcome], None]


@dataclass
class Report:
    """What a run found. ``about``: the backend's own account and the versions; ``stale``: expected failures that name
    no case; ``unproven``: claimed ``op dtype`` pairs, and preserved ops, that no case executed; ``unmatched``: patterns
    that no case had, which is no failure: the suite cannot know every vendor's."""

    request: Request
    about: dict[str, Any] = field(default_factory=dict)
    outcomes: dict[Case, Outcome] = field(default_factory=dict)
    stale: list[str] = field(default_factory=list)
    unproven: list[str] = field(default_factory=list)
    unmatched: list[str] = field(default_factory=list)
    seconds: float = 0.0
    started: str = ""

    @property
    def failures(self) -> list[tuple[Case, Outcome]]:
        """The cases that keep it from passing, in order."""
        return [(case, outcome) for case, outcome in self.outcomes.items() if outcome.status.is_bad]

    @property
    def is_passed(self) -> bool:
        """Whether nothing is wrong, and something was tested."""
        return not (self.failures or self.stale or self.unproven) and any(
            o.status is Status.passed for o in self.outcomes.values()
        )

    def passed_level(self) -> int:
        """The highest level all of whose cases, and all of those below, are right; -1 where there is none. What was
        left out counts for nothing: only a whole run passes a level. Nor does what the vendor has added."""
        if self.stale or not self.request.is_whole:
            return -1
        reached = -1
        for level in range(self.request.level + 1):
            mine = {c: o for c, o in self.outcomes.items() if c.level == level}
            unproven = level > 0 and self.unproven
            if unproven or any(o.status.is_bad for o in mine.values()):
                break
            shown = [o for c, o in mine.items() if c.group != VENDOR and o.status in (Status.passed, Status.xfailed)]
            if not shown:
                break
            reached = level
        return reached


def run_suite(
    request: Request, told: Told = lambda *_: None, journal: Journal | None = None, resume: bool = False
) -> Report:
    """Run everything. ``told(done, total, case, outcome)`` hears of each case as it ends, ``journal`` keeps it;
    ``resume``: what that has already is not run again. Raises re.error for a bad ``cases``, NothingToResume."""
    report = Report(request, started=datetime.now(UTC).isoformat(timespec="seconds"))
    start = time.monotonic()
    report.about = described(request)
    cases = listed(request, report.about)
    if not cases:
        raise ValueError(f"no case's id contains {request.cases!r}")
    if journal is None:
        outcomes = _run(request, cases, {}, told, None)
    else:
        if resume:
            journal.resume(report.about["versions"])
        else:
            journal.begin(request, report.about["versions"])
        with journal:
            outcomes = _run(request, cases, journal.done, told, journal)
    xfails = report.about.get("xfails", {})
    report.outcomes = {case: judged(case, outcomes[case], xfails) for case in cases}
    _conclude(report)
    report.seconds = time.monotonic() - start if journal is None else journal.seconds()
    return report


def _run(
    request: Request, cases: Sequence[Case], done: Mapping[Case, Outcome], told: Told, journal: Journal | None
) -> dict[Case, Outcome]:
    outcomes = {case: done[case] for case in cases if case in done}
    left = [case for case in cases if case not in done]
    for case, result in run_cases(Runner(request.backend), left, request.jobs, request.limit):
        outcomes[case] = _outcome(result, request.limit(case))
        if journal is not None:
            journal.add(case, outcomes[case])
        told(len(outcomes), len(cases), case, outcomes[case])
    return outcomes


def _conclude(report: Report) -> None:
    outcomes = list(report.outcomes.values())
    report.stale = stale(report.about.get("xfails", {}), report.about)
    claimed = {label for outcome in outcomes for label in outcome.claimed}
    executed = {label for outcome in outcomes for label in outcome.executed}
    report.unproven = sorted(claimed - executed)
    if report.request.is_whole and report.request.level > 0:
        ops = {label.partition(" ")[0] for label in executed}
        report.unproven += sorted(set(report.about.get("preserved", ())) - ops)
        report.unmatched = sorted(set(report.about.get("patterns", ())) - ops)


class Session:
    """Cases one by one, in a worker that outlives them: for pytest, which asks for each."""

    def __init__(self, request: Request) -> None:
        self.request = request
        self._workers = Workers(Runner(request.backend))
        self._about = described(request)

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: object) -> None:
        self._workers.close()

    def run(self, case: Case) -> Outcome:
        """The judged outcome of a case."""
        limit = self.request.limit(case)
        return judged(case, _outcome(self._workers.run(case, limit), limit), self._about.get("xfails", {}))

    def stale(self) -> list[str]:
        """Expected failures that name no case."""
        return stale(self._about.get("xfails", {}), self._about)


def judged(case: Case, outcome: Outcome, xfails: Mapping[str, str]) -> Outcome:
    """The outcome in the light of the failures that the vendor expects: strictly, as one that passes is a failure."""
    reason = xfails.get(case.id)
    if reason is None:
        return outcome
    if outcome.status is Status.failed:
        outcome.status, outcome.message = Status.xfailed, f"{reason} ({outcome.message})"
    elif outcome.status is Status.passed:
        outcome.status, outcome.message = Status.xpassed, f"it passes; take it off the profile's xfails: {reason}"
    return outcome


def _outcome(result: Any, seconds: float) -> Outcome:
    if isinstance(result, Failure):
        return Outcome(Status.failed, str(result), seconds=seconds if result.kind == "timeout" else 0.0)
    return Outcome.of_record(result)


def counts(outcomes: Sequence[Outcome]) -> dict[str, int]:
    """Status -> how many."""
    return {status.value: sum(o.status is status for o in outcomes) for status in Status}
