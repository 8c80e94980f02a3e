"""What the partitioner makes: which nodes run together, and by whom."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Unit"]


@dataclass(frozen=True)
class Unit:
    """Positions of nodes in their graph, ascending. ``backend`` None: exactly one node, which runs eagerly."""

    backend: int | None
    nodes: tuple[int, ...]
