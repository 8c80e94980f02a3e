"""How a launch fills a graph's inputs, and the index checks around it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

from lazycore_plugin_api import DType, Graph

from lazycore.trace.call import IndexCheck

__all__ = ["Binding", "Built", "FlagCheck", "InputBinding", "InputCheck", "NumberBinding", "StartBinding"]


@dataclass(frozen=True, slots=True)
class InputBinding:
    """The trace's input ``position``."""

    position: int


@dataclass(frozen=True, slots=True)
class NumberBinding:
    """The number at ``position`` of the trace's scalars, as ``dtype``."""

    position: int
    dtype: DType


@dataclass(frozen=True, slots=True)
class StartBinding:
    """Where a moving window begins along one dimension: ``scalars[position] // divisor % modulus`` as int64."""

    position: int
    divisor: int
    modulus: int


Binding: TypeAlias = InputBinding | NumberBinding | StartBinding


@dataclass(frozen=True, slots=True)
class InputCheck:
    """An index check of the trace's input ``position``, made on the host before launch."""

    position: int
    check: IndexCheck
    where: str


@dataclass(frozen=True, slots=True)
class FlagCheck:
    """An index check of a computed value: its smallest and largest index are graph outputs ``output``, ``output+1``."""

    output: int
    check: IndexCheck
    where: str


@dataclass(frozen=True)
class Built:
    """A trace as a graph. ``donatable``: graph inputs whose storage the trace overwrites. ``replaced``: position of
    such an input -> that of the output which its storage holds afterwards. ``flags`` follow the asked outputs in
    the graph's."""

    graph: Graph
    bindings: tuple[Binding, ...]
    donatable: frozenset[int]
    replaced: Mapping[int, int]
    input_checks: tuple[InputCheck, ...]
    flags: tuple[FlagCheck, ...]

    @property
    def scalars(self) -> frozenset[int]:
        """Positions of inputs that are numbers."""
        return frozenset(i for i, b in enumerate(self.bindings) if not isinstance(b, InputBinding))
