"""Patterns over the IR: how a vendor names a group of ops that its compiler takes whole."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from lazycore_plugin_api.backend import Decision
from lazycore_plugin_api.ir import Argument, Node, Value

__all__ = ["Any", "Match", "Op", "Pattern", "PatternNode"]


@dataclass(frozen=True)
class Any:
    """Matches any value; the same ``name`` twice must be the same value."""

    name: str | None = None


@dataclass(frozen=True)
class Op:
    """Matches a node by op name, its value operands in schema order, and literal attributes by name."""

    op: str
    operands: tuple[PatternNode, ...] = ()
    attributes: Mapping[str, Argument] = field(default_factory=dict)
    commutative: bool = False
    name: str | None = None


PatternNode: TypeAlias = Any | Op


@dataclass(frozen=True)
class Match:
    """What a pattern matched: its nodes in order, and the named values."""

    nodes: Sequence[Node]
    values: Mapping[str, Value]


@dataclass(frozen=True)
class Pattern:
    """A named pattern; ``check`` may still reject a match, larger ``priority`` wins where two overlap."""

    name: str
    root: PatternNode
    check: Callable[[Match], Decision] | None = None
    priority: int = 0
