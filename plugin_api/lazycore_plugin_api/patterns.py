"""Patterns over the IR: how a vendor names a group of ops that its compiler takes whole.

    Pattern("linear_relu", Op("aten.relu.default", (Op("aten.addmm.default", (Any("bias"), Any("x"), Any("w"))),)))

A pattern describes a value from its end: the op that writes it, what that op reads, and so on up to ``Any``. Where it
matches, the core offers the backend one *composite* node in the place of the group (see ``Node``).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from lazycore_plugin_api.backend import Decision
from lazycore_plugin_api.dtypes import DType
from lazycore_plugin_api.ir import Argument, Node, Value

__all__ = ["Any", "Constant", "Match", "Op", "Optional", "Pattern", "PatternNode"]


@dataclass(frozen=True)
class Any:
    """Matches any value that comes from outside of the group; it becomes an argument of the composite.

    ``name``: its keyword there; the same name twice must be the same value. ``dtypes``: the ones allowed, empty for
    all. ``where``: a further condition, e.g. on the shape.
    """

    name: str | None = None
    dtypes: Collection[DType] = ()
    where: Callable[[Value], bool] | None = None


@dataclass(frozen=True)
class Constant:
    """Matches a value that is known when compiling: a literal number (``aten.scalar_tensor``, ``aten.full``), which is
    copied into the group and never restricts a match, or an input that is bound (``BackendInfo.constants``).

    ``name``: its keyword in the composite, there with the number itself where it is one. ``equals``: the number wanted.
    """

    name: str | None = None
    equals: bool | int | float | complex | None = None


@dataclass(frozen=True)
class Op:
    """Matches a value that one of the ops named ``op`` writes.

    ``operands``: patterns of the values that the node reads, in order, lists walked; all of them, or empty for
    whatever it reads. ``commutative``: the first two may come in either order. ``attributes``: literal arguments,
    by position in ``args`` or by keyword: the literal wanted, or a predicate on the argument. A number never equals
    a bool, and a number that varies at run time equals nothing. ``dtypes``: of the value. ``result``: which output
    of the node the value is. ``name``: the node's name in ``Match.named``, and the value's in ``Match.values``; the
    same name twice must be the same node. ``escapes``: the node's values may be used outside of the group as well,
    and are then outputs of the composite; of nodes that are no root they otherwise must not.
    """

    op: str | tuple[str, ...]
    operands: tuple[PatternNode, ...] = ()
    attributes: Mapping[int | str, Argument | Callable[[Argument], bool]] = field(default_factory=dict)
    commutative: bool = False
    name: str | None = None
    dtypes: Collection[DType] = ()
    result: int = 0
    escapes: bool = False


@dataclass(frozen=True)
class Optional:
    """Matches ``pattern``, or goes without: without an op what stands is its first operand (an activation that may be
    missing); without a value, nothing (a bias that may be None). Names inside are then absent from the match."""

    pattern: PatternNode


PatternNode: TypeAlias = Any | Constant | Op | Optional


@dataclass(frozen=True)
class Match:
    """What a pattern matched: its nodes in order, the named values, and the nodes of named ops."""

    nodes: Sequence[Node]
    values: Mapping[str, Value]
    named: Mapping[str, Node] = field(default_factory=dict)


@dataclass(frozen=True)
class Pattern:
    """A named pattern. Where matches overlap, the one with more nodes wins, then the larger ``priority``, then the
    pattern declared first, then the match that comes first in the graph.

    ``name``: letters, digits and ``_``, unique in its plugin. ``root``: the value described, or several of them for a
    group with several results; those behind the first must share a named value with what was matched before.
    ``check``: may still reject a match; its reason is kept for the report.
    """

    name: str
    root: PatternNode | tuple[PatternNode, ...]
    check: Callable[[Match], Decision] | None = None
    priority: int = 0

    @property
    def roots(self) -> tuple[PatternNode, ...]:
        """The values described, at least one."""
        return self.root if isinstance(self.root, tuple) else (self.root,)
