"""Where the ops of one plan run, and why: plain data, behind the placement summary and its one line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from lazycore_plugin_api import Source

__all__ = ["EagerOp", "LostMatch", "PlacedSegment", "Placement", "Refusal", "RefusedOp", "Share"]

SHOWN = 3


@dataclass(frozen=True)
class Refusal:
    """Why one backend did not take an op. ``code`` is the plugin's own or the core's: ``dtype``, ``shape``,
    ``declined`` (the segment as a whole), ``compile``, ``cost``, ``plugin``, ``plugin_error``."""

    backend: str
    code: str
    reason: str


@dataclass(frozen=True)
class RefusedOp:
    """An op that a selected backend refused; ``taken_by`` is the backend that runs it, None for eager execution."""

    op: str
    source: Source | None
    taken_by: str | None
    refusals: tuple[Refusal, ...]


@dataclass(frozen=True)
class LostMatch:
    """A pattern that matched and yet made no composite, or whose composite was taken apart again.

    ``ops``: those matched. ``code``: the check's own, ``escapes``, ``inside``, ``unused`` or ``cycle`` where the
    graph forbids it, ``unclaimed`` or ``compile`` where the backend did not take or could not compile it,
    ``plugin_error``.
    """

    backend: str
    pattern: str
    ops: tuple[str, ...]
    code: str
    reason: str
    source: Source | None


@dataclass(frozen=True)
class PlacedSegment:
    """One segment of the plan: how many ops by name, the user's lines, and its estimate. ``crossings`` and
    ``crossing_bytes``: values that come from, or go to, another step of the plan. ``sizes``: that it runs by an
    executable for all sizes, or why it does not; empty where only one size was seen."""

    backend: str
    name: str
    ops: Mapping[str, int]
    sources: tuple[Source, ...]
    flops: int
    bytes_in: int
    bytes_out: int
    crossings: int
    crossing_bytes: int
    constants: int
    sizes: str = ""


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
    """One op that nobody took, and why, in the order of the backends."""

    op: str
    source: Source | None
    refusals: tuple[Refusal, ...]

    @property
    def reasons(self) -> Mapping[str, str]:
        """Backend -> reason."""
        return {refusal.backend: refusal.reason for refusal in self.refusals}


@dataclass(frozen=True)
class Placement:
    """A plan's ops by who runs them. ``str()`` is the one-line summary.

    ``segments``: in the order in which they run. ``refused``: every op that a backend refused, the eager ones among
    them. ``decomposed``: op -> how many that nobody took were replaced by pieces that are taken; those are counted
    among the rest.
    """

    shares: tuple[Share, ...]
    eager: tuple[EagerOp, ...]
    segments: tuple[PlacedSegment, ...] = ()
    refused: tuple[RefusedOp, ...] = ()
    lost: tuple[LostMatch, ...] = ()
    decomposed: Mapping[str, int] = field(default_factory=dict)

    @property
    def ops(self) -> int:
        """Ops after legalization; a composite counts as one."""
        return sum(share.ops for share in self.shares) + len(self.eager)

    def __str__(self) -> str:
        parts = [str(share) for share in self.shares]
        parts += [f"eager {len(self.eager)} ({self._eager_ops()})"] if self.eager else []
        return f"lazycore: {self.ops} op{'s' if self.ops != 1 else ''}: {', '.join(parts) or 'nothing to run'}"

    def _eager_ops(self) -> str:
        counts = Counter(entry.op for entry in self.eager).most_common()
        shown = [f"{op} \N{MULTIPLICATION SIGN}{n}" for op, n in counts[:SHOWN]]
        return ", ".join(shown) + (", \N{HORIZONTAL ELLIPSIS}" if len(counts) > SHOWN else "")
