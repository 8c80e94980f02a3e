"""Where the ops of one plan run: the data behind the placement summary, and its one line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from lazycore_plugin_api import Source

__all__ = ["EagerOp", "Placement", "Share"]

SHOWN = 3


@dataclass(frozen=True)
class Share:
    """What one backend took."""

    backend: str
    ops: int
    segments: int

    def __str__(self) -> str:
        return f"{self.backend} {self.ops} in {self.segments} segment{'s' if self.segments != 1 else ''}"


@dataclass(frozen=True)
class EagerOp:
    """One op that nobody took; ``reasons`` by backend."""

    op: str
    source: Source | None
    reasons: Mapping[str, str]


@dataclass(frozen=True)
class Placement:
    """A plan's ops by who runs them. ``str()`` is the one-line summary."""

    shares: tuple[Share, ...]
    eager: tuple[EagerOp, ...]

    @property
    def ops(self) -> int:
        """Ops after legalization."""
        return sum(share.ops for share in self.shares) + len(self.eager)

    def __str__(self) -> str:
        parts = [str(share) for share in self.shares]
        parts += [f"eager {len(self.eager)} ({self._eager_ops()})"] if self.eager else []
        return f"lazycore: {self.ops} op{'s' if self.ops != 1 else ''}: {', '.join(parts) or 'nothing to run'}"

    def _eager_ops(self) -> str:
        counts = Counter(entry.op for entry in self.eager).most_common()
        shown = [f"{op} \N{MULTIPLICATION SIGN}{n}" for op, n in counts[:SHOWN]]
        return ", ".join(shown) + (", \N{HORIZONTAL ELLIPSIS}" if len(counts) > SHOWN else "")
