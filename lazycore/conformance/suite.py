"""All cases of the suite, and the function that runs one: what a worker process is given."""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Callable, Collection, Iterable
from importlib import import_module
from typing import Any

from lazycore.conformance.case import Case, Failed, Outcome, Skipped, Status
from lazycore.conformance.context import Context

__all__ = ["GROUPS", "Runner", "all_cases", "sampled"]

_GRAPH, _DATABASE = "lazycore.conformance.graph.cases", "lazycore.conformance.database.cases"
_PROGRAMS = "lazycore.conformance.programs.cases"
# Group -> the module that lists and runs its cases, imported where they are listed or run, and its lowest level.
GROUPS = {
    "contract": ("lazycore.conformance.contract", 0),
    "graph": (_GRAPH, 1),
    "odd": (_GRAPH, 3),
    "opinfo": (_DATABASE, 1),
    "grad": (_DATABASE, 2),
    "module": (_DATABASE, 2),
    "optimizer": (_PROGRAMS, 2),
    "semantics": (_PROGRAMS, 3),
    "random": (_PROGRAMS, 3),
    "program": (_PROGRAMS, 4),
    "fuzz": ("lazycore.conformance.fuzz.cases", 3),
    "endurance": ("lazycore.conformance.endurance.cases", 5),
    "vendor": ("lazycore.conformance.vendor", 0),
}
_SAMPLE = 97
"""--sample takes cases whose id's sum falls below a share of this; a prime, so that no pattern of names survives."""


def all_cases(level: int, groups: Collection[str] = ()) -> list[Case]:
    """The cases up to a level, in the order of levels. The same for every backend. ``groups``: where only some are of
    interest; the others' modules are not imported. A vendor's own cases are not among them."""
    wanted = (g for g, (_, lowest) in GROUPS.items() if lowest <= level and (not groups or g in groups))
    modules = dict.fromkeys(GROUPS[group][0] for group in wanted)
    found = [case for module in modules for case in import_module(module).cases()]
    return sorted((case for case in found if case.level <= level), key=lambda case: case.level)


def sampled(cases: Iterable[Case], shares: dict[str, int] | None = None) -> list[Case]:
    """The same few on every machine: all of the contract, a share of each other group (in 97ths)."""
    shares = shares or {"graph": 10, "odd": 8, "opinfo": 2, "grad": 3, "module": 6}
    return [c for c in cases if sum(c.id.encode()) * 31 % _SAMPLE < shares.get(c.group, _SAMPLE)]


class Runner:
    """Runs cases in its own process, which it prepares at the first one."""

    def __init__(self, selection: str) -> None:
        self._selection = selection
        self._context: Context | None = None

    def __call__(self, case: Case) -> dict[str, Any]:
        """The outcome's record. What a case raises is the backend's failure."""
        context = self._prepared()
        start = time.perf_counter()
        outcome = _guarded(lambda: import_module(GROUPS[case.group][0]).run(case, context))
        outcome.seconds = time.perf_counter() - start
        return outcome.record()

    def _prepared(self) -> Context:
        if self._context is None:
            _prepare()
            self._context = Context(self._selection)
        return self._context


def _prepare() -> None:
    """Settings of every worker: one thread each, the CPU's random numbers, no programs of earlier processes."""
    os.environ["LAZYCORE_CACHE"] = "0"
    import torch

    from lazycore.config import config

    torch.set_num_threads(1)
    config.cache, config.rng, config.placement = False, "cpu", False
    warnings.simplefilter("ignore")


def _guarded(action: Callable[[], Outcome]) -> Outcome:
    try:
        return action()
    except Skipped as error:
        return Outcome(Status.skipped, str(error))
    except Failed as error:
        return Outcome(Status.failed, str(error))
    except Exception as error:
        return Outcome(Status.failed, f"{type(error).__name__}: {error}"[:1000])
