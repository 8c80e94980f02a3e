"""A kernel under construction: statements, in the order in which lowerings ask for values.

Every value has one name, a local that is written once: TVM's own names (``Let``, ``Bind``) are written out by several
of its passes wherever they are used, so that a chain of them doubles with each link. LLVM turns locals into registers
and loops without branches into vectors.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeAlias

from lazycore_tvm.sizes import extent
from lazycore_tvm.threads import is_wide
from lazycore_tvm.tvm_runtime import tvm

__all__ = ["Kernel", "Stage", "TooDeep", "either", "kernel", "named"]

tir = tvm.tirx
Expr: TypeAlias = Any
Body: TypeAlias = Callable[..., None]

# An array of so many bytes is on the stack; what is larger comes from TVM's pool.
_STACK_BYTES = 1 << 15
_ON_STACK = {"disable_lower_builtin": tir.IntImm("int32", 1)}


class Stage(Protocol):
    """A tensor that a kernel computes once and reads several times. ``sizes``: of its dimensions, none of them 1.
    ``kind``: its elements' type in memory. ``deepest``: how many of the dimensions may be those of loops around it."""

    sizes: tuple[int, ...]
    kind: str
    deepest: int

    def write(self, rows: Sequence[Expr], target: Any) -> None:
        """Add the statements that fill the buffer with the elements whose first indices are ``rows``."""


class TooDeep(Exception):
    """A stage is read across the loops that it stands in. ``depth``: so many of them it may stand in."""

    def __init__(self, depth: int) -> None:
        super().__init__(depth)
        self.depth = depth


class _Level:
    """The body of one of the loops around what is being written; ``row`` is that loop's variable. ``shared``: whether
    threads may share the loop, ``work``: how often the innermost loops of the stages that stand here run."""

    def __init__(self, row: Expr, block: list[Any], shared: bool = False) -> None:
        self.row = row
        self.block = block
        self.shared = shared
        self.work = 0


class Kernel:
    """Statements, the buffers in memory that they read, by name, and the places there. Stages stand in ``depth`` loops
    at most."""

    def __init__(self, depth: int) -> None:
        self.operands: dict[str, Any] = {}
        self.places: list[Expr] = []
        self._depth = depth
        self._block: list[Any] = []
        self._levels = [_Level(None, self._block)]
        self._stages: dict[int, tuple[Any, int, Stage]] = {}
        self._named: dict[int, Expr] = {}
        self._work = 0

    def read(self, memory: Any, place: Expr) -> Expr:
        """An element of a buffer in memory."""
        self.operands.setdefault(memory.name, memory)
        self.places.append(place)
        return tir.BufferLoad(memory, [place])

    def write(self, target: Any, place: Expr, value: Expr) -> None:
        """Set an element of a buffer."""
        self._block.append(tir.BufferStore(target, value, [place]))

    def array(self, size: int, kind: str) -> Any:
        """A new local buffer."""
        buffer = tir.decl_buffer((extent(size),), kind, "local", scope="local", layout=None)
        small = isinstance(size, int) and size * (tvm.DataType(kind).bits + 7) // 8 <= _STACK_BYTES
        self._block.append(tir.AllocBuffer(buffer, _ON_STACK if small else {}))
        return buffer

    def name(self, value: Expr) -> Expr:
        """The value, computed here and once."""
        if id(value) in self._named:
            return value
        local = self.array(1, str(value.ty))
        self.write(local, _zero, value)
        return self._local(local)

    def _local(self, buffer: Any) -> Expr:
        load = tir.BufferLoad(buffer, [_zero])
        self._named[id(load)] = load  # kept, so that no other expression gets its id
        return load

    def branch(self, condition: Expr, yes: Callable[[], Expr], no: Callable[[], Expr]) -> Expr:
        """One of two values of one type; the other is not computed."""
        blocks, values = zip(*(self._apart(branch) for branch in (yes, no)), strict=True)
        local = self.array(1, str(values[0].ty))
        stores = [tir.BufferStore(local, value, [_zero]) for value in values]
        first, second = (_sequence([*block, store]) for block, store in zip(blocks, stores, strict=True))
        self._block.append(tir.IfThenElse(condition, first, second))
        return self._local(local)

    def _apart(self, function: Callable[[], Expr]) -> tuple[list[Any], Expr]:
        outer, self._block = self._block, []
        try:
            value = function()
            return self._block, value
        finally:
            self._block = outer

    def loop(self, size: int | Expr, body: Callable[[Expr], None], level: bool = False, parallel: bool = False) -> None:
        """The body for 0, 1 … size - 1, if any. ``level``: stages indexed by the loop may stand in its body.
        ``parallel``: threads may share the loop; they do where it is worth it, unless they share one around it."""
        if isinstance(size, int) and size == 0:
            return
        variable = tir.Var("i", "int32")
        parallel = parallel and not self.is_shared

        def write() -> None:
            if level:
                self._levels.append(_Level(variable, self._block, parallel))
            body(variable)
            if level:
                self._leave()

        before, self._work = self._work, 0
        block, _ = self._apart(write)
        work = max(self._work, 1) * (size if isinstance(size, int) else 1)
        self._work = before + work
        if block:
            kind = tir.ForKind.PARALLEL if parallel and is_wide(work) else tir.ForKind.SERIAL
            self._block.append(tir.For(variable, _zero, extent(size), kind, _sequence(block)))

    @property
    def is_shared(self) -> bool:
        """Whether threads may share a loop around what is being written."""
        return any(level.shared for level in self._levels)

    def _leave(self) -> None:
        self._work += self._levels.pop().work
        inner = len(self._levels)
        self._stages = {key: entry for key, entry in self._stages.items() if entry[1] < inner}

    def loops(self, sizes: Sequence[int], body: Body, **options: bool) -> None:
        """Nested loops; the body gets all of their variables."""

        def inside(rest: Sequence[int], variables: tuple[Expr, ...]) -> None:
            if not rest:
                body(*variables)
            else:
                own = options if not variables else {**options, "parallel": False}
                self.loop(rest[0], lambda variable: inside(rest[1:], (*variables, variable)), **own)

        inside(sizes, ())

    def stage(self, stage: Stage, indices: Sequence[Expr]) -> Expr:
        """An element of a stage, which is computed before the loops whose variables do not come first in the indices.

        Raises TooDeep where it is computed already, for other indices of those loops."""
        shared = self._shared(stage, indices)
        if id(stage) not in self._stages:
            self._stages[id(stage)] = (self._computed(stage, shared), shared, stage)
        buffer, depth, _ = self._stages[id(stage)]
        if depth > shared:
            raise TooDeep(shared)
        place: Expr = _zero
        for index, size in zip(indices[depth:], stage.sizes[depth:], strict=True):
            place = index if place is _zero else place * size + index
        return tir.BufferLoad(buffer, [place])

    def _shared(self, stage: Stage, indices: Sequence[Expr]) -> int:
        most = min(self._depth, stage.deepest, len(indices), len(self._levels) - 1)
        rows = zip(indices[:most], self._levels[1:], strict=False)
        return next((n for n, (index, level) in enumerate(rows) if not level.row.same_as(index)), most)

    def _computed(self, stage: Stage, depth: int) -> Any:
        levels, block, work = self._levels, self._block, self._work
        self._levels, self._block, self._work = levels[: depth + 1], levels[depth].block, 0
        try:
            buffer = self.array(math.prod(stage.sizes[depth:]), stage.kind)
            stage.write([level.row for level in self._levels[1:]], buffer)
            levels[depth].work += self._work
            return buffer
        finally:
            self._levels, self._block, self._work = levels, block, work

    @property
    def staged(self) -> bool:
        """Whether stages were read."""
        return bool(self._stages)

    def __enter__(self) -> Kernel:
        _open.append(self)
        return self

    def __exit__(self, *_: object) -> None:
        _open.pop()

    def function(self, symbols: Sequence[Any], outputs: Sequence[Any]) -> Any:
        """The finished function of the operands, the symbols and the outputs."""
        function = tir.PrimFunc([*self.operands.values(), *symbols, *outputs], _sequence(self._block))
        return function.with_attr("tirx.noalias", True)


_zero = tir.const(0, "int32")
_SIMPLE = (tvm.ir.Var, tir.IntImm, tir.FloatImm)
# One compile runs at a time.
_open: list[Kernel] = []


def kernel() -> Kernel:
    """The one that is being built."""
    return _open[-1]


def named(value: Expr) -> Expr:
    """A value that is computed once, however often the result is used."""
    return value if isinstance(value, _SIMPLE) else kernel().name(value)


def either(condition: Expr, yes: Callable[[], Expr], no: Callable[[], Expr]) -> Expr:
    """One of two values, where the other must not be computed: it may be read from outside of a buffer."""
    return kernel().branch(condition, yes, no)


def _sequence(statements: Sequence[Any]) -> Any:
    return statements[0] if len(statements) == 1 else tir.SeqStmt(statements)
