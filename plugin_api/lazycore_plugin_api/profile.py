"""What a vendor says to the conformance suite: claims, tolerances, known failures, cases of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from lazycore_plugin_api.backend import HostArray
from lazycore_plugin_api.dtypes import DType
from lazycore_plugin_api.ir import Segment

__all__ = ["CheckCase", "GraphCase", "OwnCase", "Profile"]


@dataclass(frozen=True)
class GraphCase:
    """A segment that the backend must compile and run, with an array per input: what the vendor fuses, tiles or
    schedules in a way that single operators do not show.

    The suite computes what is right, by the reference backend or PyTorch, each operator by its own tolerance; or by
    (rtol, atol) of ``tolerance`` for all outputs. ``name``: letters, digits and ``._-/``; ``level`` as of the suite.
    """

    name: str
    segment: Segment
    arrays: Sequence[HostArray]
    level: int = 1
    tolerance: tuple[float, float] | None = None


@dataclass(frozen=True)
class CheckCase:
    """Anything else that the vendor tests: ``check`` returns where all is well, and raises where it is not. It runs in
    a worker process, under the suite's time limit."""

    name: str
    check: Callable[[], None]
    level: int = 1


OwnCase: TypeAlias = GraphCase | CheckCase


@dataclass(frozen=True)
class Profile:
    """A vendor's own word for the conformance suite: dtypes claimed, tolerances (op -> (rtol, atol)), known failures
    (case id -> reason), and cases of its own, whose ids are ``vendor/<name>``. The report prints all of it."""

    dtypes: Iterable[DType] = ()
    tolerances: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    xfails: Mapping[str, str] = field(default_factory=dict)
    cases: Sequence[OwnCase] = ()
