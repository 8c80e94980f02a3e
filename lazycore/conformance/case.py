"""A case and what became of it: plain data, which crosses processes and goes into reports."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from enum import Enum
from typing import Any

__all__ = ["VENDOR", "Case", "Failed", "Outcome", "Skipped", "Status"]

VENDOR = "vendor"
"""The group of the cases that a backend's own profile adds."""


class Failed(Exception):
    """A check does not hold; the message says what was expected of the backend and what it did."""


class Skipped(Exception):
    """A case that says nothing about this backend or in this environment; the message says why."""


class Status(Enum):
    """How a case ended. ``unclaimed``: the backend takes none of the samples, which is its right. ``xfailed``: it
    failed as the vendor's profile says. ``xpassed``: it passed although the profile says it fails: a failure."""

    passed = "passed"
    failed = "failed"
    unclaimed = "unclaimed"
    skipped = "skipped"
    xfailed = "xfailed"
    xpassed = "xpassed"

    @property
    def is_bad(self) -> bool:
        """Whether it keeps a level from being passed."""
        return self in (Status.failed, Status.xpassed)


@dataclass(frozen=True, order=True)
class Case:
    """``id`` is ``group/name`` or ``group/name/dtype``; ``level`` the one it belongs to."""

    level: int
    id: str

    @property
    def group(self) -> str:
        """Which part of the suite runs it."""
        return self.id.partition("/")[0]

    @property
    def name(self) -> str:
        """What it is about: all behind the group."""
        return self.id.partition("/")[2]


@dataclass
class Outcome:
    """What a case found. ``samples`` were executed by the backend and compared, ``declined`` not taken by it.
    ``claimed`` and ``executed``: ``op dtype`` pairs that the backend said it takes, and that it ran; ``elsewhere``:
    claimed ones that ran in another place. ``tolerances``: ``op dtype`` -> (rtol, atol) used."""

    status: Status = Status.passed
    message: str = ""
    seconds: float = 0.0
    samples: int = 0
    declined: int = 0
    claimed: set[str] = field(default_factory=set)
    executed: set[str] = field(default_factory=set)
    elsewhere: set[str] = field(default_factory=set)
    tolerances: dict[str, tuple[float, float]] = field(default_factory=dict)
    facts: dict[str, Any] = field(default_factory=dict)

    def fail(self, message: str) -> None:
        """Note what is wrong; the first few messages are kept, in the place of what was said before it failed."""
        if self.status is not Status.failed:
            self.status, self.message = Status.failed, ""
        if self.message.count("\n") < 5:
            self.message = f"{self.message}\n{message}".strip()

    def record(self) -> dict[str, Any]:
        """As JSON has it."""
        record = asdict(self) | {"status": self.status.value, "seconds": round(self.seconds, 4)}
        return record | {name: sorted(getattr(self, name)) for name in ("claimed", "executed", "elsewhere")}

    @classmethod
    def of_record(cls, record: Mapping[str, Any]) -> Outcome:
        """What ``record`` wrote."""
        sets = {name: set(record[name]) for name in ("claimed", "executed", "elsewhere")}
        tolerances = {name: (float(r), float(a)) for name, (r, a) in record["tolerances"].items()}
        return cls(**{**record, **sets, "status": Status(record["status"]), "tolerances": tolerances})
