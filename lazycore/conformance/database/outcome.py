"""What became of one case of the database."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

__all__ = ["Outcome", "Phase"]


@dataclass
class Phase:
    """How the forward or backward passes of a case ran: ``samples`` were right, ``native`` of them without any
    fallback. op -> executions: ``ran`` on a backend, ``decomposed`` before that, run by PyTorch (``fallbacks``)."""

    samples: int = 0
    native: int = 0
    ran: Counter[str] = field(default_factory=Counter)
    decomposed: Counter[str] = field(default_factory=Counter)
    fallbacks: Counter[str] = field(default_factory=Counter)


@dataclass
class Outcome:
    """One op and dtype, one op's error inputs, or one module; ``dtype`` is the kind of case.

    ``samples`` were tried, ``forward`` and ``backward`` of them right, ``native`` ran without any fallback;
    ``errors``: distinct messages; ``fallbacks``: op -> executions; ``phases``: what ran where, in each direction, of
    the samples that were right there.
    """

    op: str
    dtype: str
    samples: int = 0
    forward: int = 0
    backward: int = 0
    native: int = 0
    errors: list[str] = field(default_factory=list)
    fallbacks: Counter[str] = field(default_factory=Counter)
    phases: dict[str, Phase] = field(default_factory=dict)

    def phase(self, name: str) -> Phase:
        """``forward`` or ``backward``, made when it is first asked for."""
        return self.phases.setdefault(name, Phase())

    def fail(self, stage: str, error: BaseException) -> None:
        """Note what went wrong, once."""
        self.note(f"{stage}: {type(error).__name__}: {' '.join(str(error).split())[:400]}")

    def note(self, message: str) -> None:
        """Note a difference, once."""
        if message not in self.errors:
            self.errors.append(message)

    def row(self) -> dict[str, Any]:
        """As JSON has it."""
        phases = {name: dict(vars(phase)) for name, phase in self.phases.items()}
        return dict(vars(self)) | {"phases": phases}
