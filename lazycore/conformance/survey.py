"""What there is to run: the backend's account of itself, and the cases. Both come from worker processes, as whatever is
wrong with a plugin must not end the run."""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from lazycore.conformance.case import Case, Failed
from lazycore.conformance.nursery import nursery
from lazycore.conformance.suite import GROUPS, all_cases, sampled
from lazycore.conformance.workers import Failure, run_cases

__all__ = ["HIGHEST", "Request", "chosen", "described", "listed", "stale"]

HIGHEST = 5
_DATABASE = ("opinfo", "grad", "module")
_SECONDS = 120.0


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

    @property
    def groups(self) -> tuple[str, ...]:
        """The only ones that ``cases`` can mean, empty where that is not plain. Reproducers name one."""
        begins = [re.match(r"\^(\w+)/", part) for part in self.cases.split("|")]
        return tuple(sorted({begin[1] for begin in begins if begin})) if all(begins) else ()


def listed(request: Request, about: Mapping[str, Any]) -> list[Case]:
    """The cases of a request, those of the backend's profile among them. Raises re.error for a bad expression."""
    re.compile(request.cases)
    _prepare(request)
    ((_, result),) = run_cases(chosen, [request], 1, _SECONDS)
    if isinstance(result, Failure):
        raise RuntimeError(f"the cases cannot be listed: {result}")
    own = [Case(level, name) for level, name in about.get("own_cases", ()) if level <= request.level]
    found = [*result, *(case for case in own if re.search(request.cases, case.id))]
    return sorted(found, key=lambda case: case.level)


def _prepare(request: Request) -> None:
    """Import, where workers come from, what they have in common: nothing of the backend."""
    groups = [g for g, (_, lowest) in GROUPS.items() if lowest <= request.level and g in (request.groups or GROUPS)]
    modules = ["torch", "lazycore", "lazycore.conformance.context", *(GROUPS[group][0] for group in groups)]
    if any(group in _DATABASE for group in groups):
        modules.append("lazycore.conformance.database.loaded")
    nursery().prepare(list(dict.fromkeys(modules)))


def chosen(request: Request) -> list[Case]:
    """Those of the cases of every backend that a request means. Raises re.error for a bad expression."""
    cases = all_cases(request.level, request.groups)
    if request.sample:
        cases = sampled(cases)
    return [case for case in cases if re.search(request.cases, case.id)]


def stale(xfails: Iterable[str], about: Mapping[str, Any]) -> list[str]:
    """Expected failures that name no case of any level."""
    names = set(xfails) - {name for _, name in about.get("own_cases", ())}
    if not names:
        return []
    groups = tuple(sorted({name.partition("/")[0] for name in names} & set(GROUPS)))
    ((_, known),) = run_cases(_known, [groups], 1, _SECONDS)
    if isinstance(known, Failure):
        raise RuntimeError(f"the cases cannot be listed: {known}")
    return sorted(names - known)


def _known(groups: Sequence[str]) -> set[str]:
    return {case.id for case in all_cases(HIGHEST, groups)} if groups else set()


def described(request: Request) -> dict[str, Any]:
    """The backend's account of itself, ``broken`` where it gives none; versions and host."""
    ((_, result),) = run_cases(describe, [request.backend], 1, _SECONDS)
    about = {"backend": request.backend, "broken": str(result)} if isinstance(result, Failure) else result
    return {**about, "versions": _versions(about.get("distribution", "")), "host": _host()}


def describe(selection: str) -> dict[str, Any]:
    """The backend's account of itself, as JSON has it. Raises what opening it raises."""
    from lazycore.conformance.opening import open_backend
    from lazycore.conformance.vendor import own_cases
    from lazycore.plugins.discovery import installed

    backend = open_backend(selection)
    info, profile = backend.info, backend.conformance()
    capabilities = {k: getattr(v, "value", v) for k, v in vars(info.capabilities).items()}
    try:
        own = own_cases(profile)
    except Failed:
        own = []  # contract/profile says what is wrong with them
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
        "own_cases": [[case.level, case.id] for case in own],
    }


def _versions(distribution: str) -> dict[str, str]:
    found = {"python": platform.python_version()}
    for name in dict.fromkeys(
        ("lazycore", "lazycore-plugin-api", "lazycore-reference", distribution, "torch", "numpy", "jax", "apache-tvm")
    ):
        try:
            found[name] = version(name)
        except (PackageNotFoundError, ValueError):
            continue
    return found


def _host() -> dict[str, Any]:
    return {"system": platform.platform(), "machine": platform.machine(), "cpus": os.cpu_count()}
