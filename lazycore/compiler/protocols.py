"""What the compiler asks of its surroundings; the plugin host and the frontend implement these."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol, TypeAlias

from lazycore_plugin_api import (
    BackendInfo,
    CompileFailure,
    Decision,
    Estimate,
    Executable,
    Graph,
    HostArray,
    Node,
    Pattern,
    Segment,
    Session,
    Target,
)

if TYPE_CHECKING:
    from lazycore.compiler.placement import Placement

__all__ = ["Backend", "Decompose", "Observer", "Quiet", "RunEager"]


class Backend(Protocol):
    """One selected backend. ``supports`` and ``compile`` never raise: a plugin's own error is a ``Rejected`` or a
    ``CompileFailure``."""

    @property
    def name(self) -> str: ...

    @property
    def info(self) -> BackendInfo: ...

    @property
    def target(self) -> Target: ...

    @property
    def session(self) -> Session: ...

    def supports(self, node: Node) -> Decision:
        """Whether it takes this node."""
        ...

    def patterns(self) -> Sequence[Pattern]:
        """Groups of ops that it takes whole. Raises LazycoreError where the plugin fails."""
        ...

    def accept_segment(self, segment: Segment, estimate: Estimate) -> bool:
        """Its last word on a segment. Raises LazycoreError where the plugin fails."""
        ...

    # Lists, so that implementations may ask for either a list or any sequence.
    def restore(self, segments: list[Segment]) -> Sequence[Executable | None]:
        """What an earlier process compiled of the segments, None for each other one."""
        ...

    def compile(self, segments: list[Segment]) -> Sequence[Executable | CompileFailure]:
        """One result per segment, in order."""
        ...


Decompose: TypeAlias = Callable[[Node], Graph | None]
"""A node as smaller ops, or None. The graph's inputs stand for the node's distinct input values in order of first use
(under ids of the graph's own), its outputs for the node's outputs."""

RunEager: TypeAlias = Callable[[Node, Sequence[HostArray]], Sequence[HostArray]]
"""Computes one node eagerly: its distinct input values in order of first use -> its outputs. The arrays it gets are
read only; what it returns may share memory with them."""


class Observer(Protocol):
    """Told what a compile does."""

    def compiled(self, segment: Segment, backend: str, seconds: float) -> None:
        """A segment was compiled."""

    def loaded(self, segment: Segment, backend: str, seconds: float) -> None:
        """A segment's executable was there already, from an earlier process."""

    def served(self, segment: Segment, backend: str) -> None:
        """A segment runs by an executable that was compiled for all sizes before."""
        ...

    def fell_back(self, node: Node, reasons: Mapping[str, str]) -> None:
        """No backend takes this node: the plan runs it eagerly. ``reasons`` by backend."""

    def placed(self, placement: Placement) -> None:
        """A plan is ready."""


class Quiet:
    """The observer that does nothing."""

    def compiled(self, segment: Segment, backend: str, seconds: float) -> None:
        """Do nothing."""

    def loaded(self, segment: Segment, backend: str, seconds: float) -> None:
        """Do nothing."""

    def served(self, segment: Segment, backend: str) -> None:
        """Do nothing."""

    def fell_back(self, node: Node, reasons: Mapping[str, str]) -> None:
        """Do nothing."""

    def placed(self, placement: Placement) -> None:
        """Do nothing."""
