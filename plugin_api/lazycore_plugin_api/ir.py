"""The intermediate representation: an SSA graph of ATen operators over dense row-major tensors.

A node's ``op`` is the overload's name as torch prints it after functionalization (``aten.add.Tensor``,
``aten.relu.default``), a vendor's ``torch.library`` operator under its own namespace, or one of the few operators
of the ``lazycore`` namespace that the opset page lists. ``args`` holds *all* positional arguments of the schema and
``kwargs`` *all* keyword-only ones, defaults filled in; device, layout, pin_memory, generator, memory_format and
non_blocking never appear.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

from lazycore_plugin_api.dims import Dim
from lazycore_plugin_api.dtypes import DType
from lazycore_plugin_api.specs import TensorSpec

__all__ = ["COMPOSITE", "Argument", "Graph", "Node", "Segment", "Source", "Value", "argument_values"]

COMPOSITE = "composite"
"""The last part of a composite's op name."""


@dataclass(frozen=True)
class Source:
    """The line of the user's program that asked for an op; in backward, ``forward`` is the line it derives from."""

    file: str
    line: int
    forward: Source | None = None

    def __str__(self) -> str:
        here = f"{self.file}:{self.line}"
        return f"{here} (backward of {self.forward})" if self.forward else here


@dataclass(frozen=True, slots=True)
class Value:
    """One SSA value: written once, by a node or as a graph input."""

    id: int
    spec: TensorSpec

    def __str__(self) -> str:
        return f"%{self.id}"


Literal: TypeAlias = bool | int | float | complex | str | DType | Dim | None
Argument: TypeAlias = Value | Literal | tuple["Argument", ...]
"""A node's argument. Where the schema says ``Scalar`` it is a Python number, or a 0-d Value when it varies.
An integer that varies with the sizes is a Dim, where the backend has ``Capabilities.dynamic_dims``."""


def argument_values(argument: Argument) -> Iterator[Value]:
    """The values inside an argument, in order, tuples walked."""
    if isinstance(argument, Value):
        yield argument
    elif isinstance(argument, tuple):
        for item in argument:
            yield from argument_values(item)


@dataclass(frozen=True, eq=False)
class Node:
    """One operator call, or a composite: a group of them that a backend's pattern matched.

    A composite's ``op`` is ``<backend>.<pattern>.composite``. Its ``kwargs`` are the pattern's named values (and
    named literals, as numbers), its ``args`` the other values read. ``body`` computes it in other ops: one body
    input per value among the arguments, in the order of ``inputs()``, one body output per output. Value ids of a
    body are its own.
    """

    op: str
    args: tuple[Argument, ...]
    kwargs: Mapping[str, Argument] = field(default_factory=dict)
    outputs: tuple[Value, ...] = ()
    source: Source | None = None
    body: Graph | None = None

    def inputs(self) -> Iterator[Value]:
        """The values it reads, in order, repeated where they are."""
        for argument in (*self.args, *self.kwargs.values()):
            yield from argument_values(argument)

    @property
    def base(self) -> str:
        """The op without its overload: ``aten.add``."""
        return self.op.rpartition(".")[0]


@dataclass
class Graph:
    """Nodes in execution order, from ``inputs`` to ``outputs``."""

    inputs: tuple[Value, ...]
    nodes: list[Node]
    outputs: tuple[Value, ...]

    def producers(self) -> dict[int, Node]:
        """Value id -> the node that writes it."""
        return {out.id: node for node in self.nodes for out in node.outputs}

    def __str__(self) -> str:
        from lazycore_plugin_api.text import to_text

        return to_text(self)


@dataclass
class Segment(Graph):
    """The part of a trace that one backend compiles as one unit.

    ``scalars``: positions of inputs that are 0-d numbers which vary from run to run; ``run`` gets them as 0-d NumPy
    arrays, never as buffers. ``donatable``: positions of inputs whose buffer nobody reads afterwards, so that the
    executable may overwrite it: the first outputs are what the program overwrites them with, or else what fits, one
    for each in the order of their positions. ``constants``: input position -> content, for inputs that are bound at
    compile time (``BackendInfo.constants``). They are the last of ``inputs``, and ``run`` does not get them; so all
    other positions are the same in ``inputs`` and in what ``run`` gets.
    """

    name: str = "segment"
    scalars: frozenset[int] = frozenset()
    donatable: frozenset[int] = frozenset()
    constants: Mapping[int, np.ndarray[Any, Any]] = field(default_factory=dict)

    @property
    def arguments(self) -> tuple[Value, ...]:
        """The inputs that ``run`` gets: all but the bound constants."""
        return self.inputs[: len(self.inputs) - len(self.constants)]

    def sources(self) -> Sequence[Source]:
        """The user's lines that the segment stems from, each once, in order."""
        return list(dict.fromkeys(_known(n.source for n in self.nodes)))


def _known(sources: Iterable[Source | None]) -> Iterator[Source]:
    return (s for s in sources if s is not None)
