"""A run of the suite: which cases, in worker processes, judged against the vendor's profile."""

from __future__ import annotations

import os
import platform
import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from lazycore.conformance.case import Case, Outcome, Status
from lazycore.conformance.suite import Runner, all_cases, sampled
from lazycore.conformance.workers import Failure, Workers, run_cases

__all__ = ["Report", "Request", "Session", "chosen", "counts", "judged", "run_suite"]

HIGHEST = 5
_DESCRIBE_SECONDS = 120.0


@dataclass(frozen=True)
class Request:
    """What to run. ``cases``: a regular expression that an id must contain; ``seconds`` bounds a case."""

    backend: str
    level: int = HIGHEST
    sample: bool = False
    cases: str = ""
    jobs: int = 1
    seconds: float = 120.0

    def limit(self, case: Case) -> float:
        """Seconds for one case; those that start several processes have more."""
        return self.seconds * (4 if case.group == "endurance" else 1)

    @property
    def is_whole(self) -> bool:
        """Whether nothing of the levels is left out."""
        return not self.sample and not self.cases


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
        left out counts for nothing: only a whole run passes a level."""
        if self.stale or not self.request.is_whole:
            return -1
        reached = -1
        for level in range(self.request.level + 1):
            mine = [o for c, o in self.outcomes.items() if c.level == level]
            unproven = level > 0 and self.unproven
            if not mine or unproven or any(o.status.is_bad for o in mine):
                break
            if not any(o.status in (Status.passed, Status.xfailed) for o in mine):
                break
            reached = level
        return reached


def run_suite(request: Request, told: Callable[[int, int, Case, Outcome], None] = lambda *_: None) -> Report:
    """Run everything. ``told(done, total, case, outcome)`` hears of each case as it ends. Raises re.error for a bad
    ``cases``."""
    report = Report(request, started=datetime.now(UTC).isoformat(timespec="seconds"))
    start = time.monotonic()
    cases = chosen(request)
    about = _described(request)
    report.about = {**about, "versions": _versions(), "host": _host()}
    xfails = about.get("xfails", {})
    runner = Runner(request.backend)
    for done, (case, result) in enumerate(run_cases(runner, cases, request.jobs, request.limit), 1):
        report.outcomes[case] = judged(case, _outcome(result, request.limit(case)), xfails)
        told(done, len(cases), case, report.outcomes[case])
    report.outcomes = {case: report.outcomes[case] for case in cases}
    report.stale = _stale(xfails)
    report.unproven = _unproven(report.outcomes.values())
    if request.is_whole and request.level > 0:
        report.unproven += _never_run(about.get("preserved", []), report.outcomes.values())
        report.unmatched = _never_run(about.get("patterns", []), report.outcomes.values())
    report.seconds = time.monotonic() - start
    return report


class Session:
    """Cases one by one, in a worker that outlives them: for pytest, which asks for each."""

    def __init__(self, request: Request) -> None:
        self.request = request
        self._workers = Workers(Runner(request.backend))
        self._xfails: Mapping[str, str] = _described(request).get("xfails", {})

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: object) -> None:
        self._workers.close()

    def run(self, case: Case) -> Outcome:
        """The judged outcome of a case."""
        limit = self.request.limit(case)
        return judged(case, _outcome(self._workers.run(case, limit), limit), self._xfails)

    def stale(self) -> list[str]:
        """Expected failures that name no case."""
        return _stale(self._xfails)


def _stale(xfails: Mapping[str, str]) -> list[str]:
    return sorted(set(xfails) - {case.id for case in all_cases(HIGHEST)}) if xfails else []


def chosen(request: Request) -> list[Case]:
    """The cases of a request. Raises re.error for a bad expression."""
    re.compile(request.cases)
    # What an expression begins with may say which group is meant: reproducers do not import torch's databases.
    group = re.match(r"\^(\w+)/[^|]*$", request.cases)
    cases = all_cases(request.level, (group[1],) if group else ())
    if request.sample:
        cases = sampled(cases)
    return [case for case in cases if re.search(request.cases, case.id)]


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


def _unproven(outcomes: Any) -> list[str]:
    claimed: set[str] = set()
    executed: set[str] = set()
    for outcome in outcomes:
        claimed |= outcome.claimed
        executed |= outcome.executed
    return sorted(claimed - executed)


def _never_run(ops: Sequence[str], outcomes: Any) -> list[str]:
    executed = {label.partition(" ")[0] for outcome in outcomes for label in outcome.executed}
    return sorted(set(ops) - executed)


def describe(selection: str) -> dict[str, Any]:
    """The backend's account of itself, as JSON has it. Raises what opening it raises."""
    from lazycore.conformance.opening import open_backend
    from lazycore.plugins.discovery import installed

    backend = open_backend(selection)
    info, profile = backend.info, backend.conformance()
    capabilities = {k: getattr(v, "value", v) for k, v in vars(info.capabilities).items()}
    return {
        "backend": info.name,
        "version": info.version,
        "api_version": list(info.api_version),
        "distribution": installed()[info.name].distribution,
        "target": str(backend),
        "dtypes": sorted(d.value for d in info.dtypes),
        "claimed_dtypes": sorted(d.value for d in profile.dtypes),
        "capabilities": capabilities,
        "preserved": backend.preserve_ops(),
        "patterns": [f"{info.name}.{pattern.name}.composite" for pattern in backend.patterns()],
        "loosened": {op: list(pair) for op, pair in profile.tolerances.items()},
        "xfails": dict(profile.xfails),
    }


def _described(request: Request) -> dict[str, Any]:
    """In a process of its own, as whatever is wrong with the plugin must not end the run; level 0 says what it is."""
    ((_, result),) = run_cases(describe, [request.backend], 1, _DESCRIBE_SECONDS)
    if isinstance(result, Failure):
        return {"backend": request.backend, "broken": str(result)}
    about: dict[str, Any] = result
    return about


def _versions() -> dict[str, str]:
    found = {"python": platform.python_version()}
    for name in ("lazycore", "lazycore-plugin-api", "lazycore-reference", "torch", "numpy"):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "unknown"
    return found


def _host() -> dict[str, Any]:
    return {"system": platform.platform(), "machine": platform.machine(), "cpus": os.cpu_count()}


def counts(outcomes: Sequence[Outcome]) -> dict[str, int]:
    """Status -> how many."""
    return {status.value: sum(o.status is status for o in outcomes) for status in Status}
