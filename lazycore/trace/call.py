"""One recorded operator call, as a template: which values it reads, which literals vary, what it writes.

The compiler turns the calls of a path into an SSA graph; these records are all that it sees of the recorder.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from lazycore_plugin_api import DType, Source, TensorSpec

from lazycore.trace.layout import Layout

__all__ = ["ALIAS", "Call", "Compound", "Lifted", "Number", "Operand", "Template", "View", "Write"]

ALIAS = "lazycore.alias.default"
"""The op of a call that only passes its operand on: how a copy is recorded. It never reaches a graph."""


@dataclass(frozen=True, slots=True)
class Lifted:
    """A number that is given at run time: ``position`` in the trace's scalars, read as ``dtype``."""

    position: int
    dtype: DType


@dataclass(frozen=True, slots=True)
class View:
    """A window on a base: size, stride and offset in elements of ``dtype`` (None: the base's own)."""

    size: tuple[int, ...]
    stride: tuple[int, ...]
    offset: int | Lifted
    wraps: bool = False
    dtype: DType | None = None
    conj: bool = False
    neg: bool = False


@dataclass(frozen=True, slots=True)
class Operand:
    """A tensor operand: a trace value (``~i`` is input i), whole or through a view."""

    value: int
    view: View | None = None


@dataclass(frozen=True, slots=True)
class Number:
    """A Python number where the schema has a Tensor: a 0-d value of the dtype the op computes in."""

    number: bool | int | float | complex | Lifted


Literal: TypeAlias = bool | int | float | complex | str | DType
Template: TypeAlias = Operand | Number | Lifted | Literal | tuple["Template", ...] | None


@dataclass(frozen=True, slots=True)
class Write:
    """Result ``result`` of the call is stored through ``target`` and makes the storage's next value ``value``."""

    result: int
    target: Operand
    value: int


@dataclass(frozen=True, slots=True)
class Call:
    """A functional operator with its operands.

    ``results``: the spec of each result (None: not asked for). ``values``: for each result the trace value it becomes
    as a storage of its own, or None where it is only written into others or dropped. ``compute``: the dtype that
    promotion gives the tensor operands at the positions ``promoted`` (None: all of them). ``layouts``: those of all
    values that first appear here, inputs among them.
    """

    op: str
    args: tuple[Template, ...]
    kwargs: Mapping[str, Template]
    results: tuple[TensorSpec | None, ...]
    values: tuple[int | None, ...] = ()
    writes: tuple[Write, ...] = ()
    compute: DType | None = None
    promoted: frozenset[int] | None = None
    source: Source | None = None
    checks: tuple[IndexCheck, ...] = ()
    layouts: Mapping[int, Layout] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Compound:
    """What the program called, where a node's calls are the parts that it is composed of: the op, and the positions
    of its operands that are tensors."""

    op: str
    tensors: frozenset[int]


@dataclass(frozen=True, slots=True)
class IndexCheck:
    """Argument ``argument`` (``item`` of it, where it is a list) holds indices that must lie in [low, high).

    Otherwise the program's next observation raises ``error`` with ``message``, in which ``{index}`` stands for the
    first index that does not; elements equal to ``ignore`` may be anything. ``nonzero``: what must lie in the range is
    whether an element differs from 0, 1 where it does.
    """

    argument: int
    item: int | None
    low: int
    high: int
    error: type[Exception]
    message: str
    ignore: int | None = None
    nonzero: bool = False
