"""What became of one case of the database."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass, field
from typing import Any

__all__ = ["Outcome"]


@dataclass
class Outcome:
    """One op and dtype, one op's error inputs, or one module; ``dtype`` is the kind of case.

    ``samples`` were tried, ``forward`` and ``backward`` of them right, ``native`` ran without any fallback;
    ``errors``: distinct messages; ``fallbacks``: op -> executions.
    """

    op: str
    dtype: str
    samples: int = 0
    forward: int = 0
    backward: int = 0
    native: int = 0
    errors: list[str] = field(default_factory=list)
    fallbacks: Counter[str] = field(default_factory=Counter)

    def fail(self, stage: str, error: BaseException) -> None:
        """Note what went wrong, once."""
        self.note(f"{stage}: {type(error).__name__}: {' '.join(str(error).split())[:400]}")

    def note(self, message: str) -> None:
        """Note a difference, once."""
        if message not in self.errors:
            self.errors.append(message)

    def row(self) -> dict[str, Any]:
        """As JSON has it."""
        return asdict(self) | {"fallbacks": dict(self.fallbacks)}
