"""The steps a view is made of. Each is a lens: it reads a part of a value, and writes one back into it.

A recipe is a sequence of steps from the base to the view. Reading runs them forwards; writing reads forwards up to
the last step that narrows, then writes backwards.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from lazycore_plugin_api.ir import Argument, Value
from lazycore_plugin_api.specs import TensorSpec

__all__ = ["Box", "Emitter", "Expand", "Permute", "Reshape", "Step", "Stride", "emit_op"]

Shape = tuple[int, ...]
Starts = Sequence[Value]


class Emitter(Protocol):
    """Where nodes go: the graph builder implements it."""

    def emit(self, op: str, args: tuple[Argument, ...], kwargs: dict[str, Argument], spec: TensorSpec) -> Value:
        """Append one node and return its only output, a new value of ``spec``."""
        ...


class Step(Protocol):
    """One lens. ``narrows``: whether a write needs what was there before. ``cost``: a weight for choosing plans."""

    @property
    def narrows(self) -> bool: ...

    @property
    def cost(self) -> int: ...

    def read(self, emitter: Emitter, x: Value, starts: Starts) -> Value:
        """The part of ``x``; ``starts`` are the run-time starts or offset, for the step that moves."""
        ...

    def write(self, emitter: Emitter, x: Value | None, update: Value, starts: Starts) -> Value:
        """``x`` with the part replaced by ``update``; ``x`` is None where the step does not narrow."""
        ...


def emit_op(emitter: Emitter, op: str, args: tuple[Argument, ...], shape: Shape, like: Value) -> Value:
    """A node without keyword arguments whose result has ``like``'s dtype."""
    return emitter.emit(op, args, {}, TensorSpec(shape, like.spec.dtype))


def _slice(emitter: Emitter, x: Value, dim: int, start: int, count: int, step: int = 1) -> Value:
    shape = list(x.spec.static_shape)
    shape[dim] = count
    return emit_op(emitter, "aten.slice.Tensor", (x, dim, *_ends(start, count, step)), tuple(shape), x)


def _slice_scatter(emitter: Emitter, x: Value, update: Value, dim: int, start: int, count: int, step: int = 1) -> Value:
    args = (x, update, dim, *_ends(start, count, step))
    return emit_op(emitter, "aten.slice_scatter.default", args, x.spec.static_shape, x)


def _ends(start: int, count: int, step: int) -> tuple[int, int, int]:
    """Start, exclusive end (never past the last element taken), step."""
    return start, start + (count - 1) * step + 1 if count else start, step


def _needed(x: Value | None) -> Value:
    if x is None:
        raise TypeError("a step that narrows writes into a value; none was given")
    return x


@dataclass(frozen=True, slots=True)
class Reshape:
    """Row-major reshape."""

    before: Shape
    after: Shape
    narrows: bool = False
    cost: int = 1

    def read(self, emitter: Emitter, x: Value, starts: Starts) -> Value:  # noqa: ARG002
        return emit_op(emitter, "aten.view.default", (x, self.after), self.after, x)

    def write(self, emitter: Emitter, x: Value | None, update: Value, starts: Starts) -> Value:  # noqa: ARG002
        return emit_op(emitter, "aten.view.default", (update, self.before), self.before, update)


@dataclass(frozen=True, slots=True)
class Permute:
    """Transposition; it moves data, so it weighs more than a reshape."""

    dims: Shape
    narrows: bool = False
    cost: int = 4

    def read(self, emitter: Emitter, x: Value, starts: Starts) -> Value:  # noqa: ARG002
        return _permute(emitter, x, self.dims)

    def write(self, emitter: Emitter, x: Value | None, update: Value, starts: Starts) -> Value:  # noqa: ARG002
        return _permute(emitter, update, tuple(self.dims.index(i) for i in range(len(self.dims))))


def _permute(emitter: Emitter, x: Value, dims: Shape) -> Value:
    shape = x.spec.static_shape
    return emit_op(emitter, "aten.permute.default", (x, dims), tuple(shape[i] for i in dims), x)


@dataclass(frozen=True, slots=True)
class Box:
    """A window of unit steps. Axes in ``moving`` start where the run-time starts say, in that order."""

    extents: Shape
    starts: Shape
    counts: Shape
    moving: Shape = ()
    narrows: bool = True

    @property
    def cost(self) -> int:
        return 1 if self.moving else len(self._cut())

    def _cut(self) -> list[int]:
        return [i for i, (n, c) in enumerate(zip(self.extents, self.counts, strict=True)) if n != c]

    def _corner(self, starts: Starts) -> tuple[Argument, ...]:
        if len(starts) != len(self.moving):
            raise ValueError(f"{len(self.moving)} axes of the view move, but {len(starts)} starts were given")
        moved = dict(zip(self.moving, starts, strict=True))
        return tuple(moved.get(i, start) for i, start in enumerate(self.starts))

    def read(self, emitter: Emitter, x: Value, starts: Starts) -> Value:
        if self.moving:
            args = (x, self._corner(starts), self.counts)
            return emit_op(emitter, "lazycore.dynamic_slice.default", args, self.counts, x)
        for i in self._cut():
            x = _slice(emitter, x, i, self.starts[i], self.counts[i])
        return x

    def write(self, emitter: Emitter, x: Value | None, update: Value, starts: Starts) -> Value:
        x = _needed(x)
        cut = self._cut()
        if not self.moving and len(cut) == 1:
            return _slice_scatter(emitter, x, update, cut[0], self.starts[cut[0]], self.counts[cut[0]])
        corner = self._corner(starts if self.moving else ())
        return emit_op(emitter, "lazycore.dynamic_update_slice.default", (x, update, corner), self.extents, x)


@dataclass(frozen=True, slots=True)
class Stride:
    """Every ``step``-th element along one axis."""

    dim: int
    start: int
    count: int
    step: int
    narrows: bool = True
    cost: int = 1

    def read(self, emitter: Emitter, x: Value, starts: Starts) -> Value:  # noqa: ARG002
        return _slice(emitter, x, self.dim, self.start, self.count, self.step)

    def write(self, emitter: Emitter, x: Value | None, update: Value, starts: Starts) -> Value:  # noqa: ARG002
        return _slice_scatter(emitter, _needed(x), update, self.dim, self.start, self.count, self.step)


@dataclass(frozen=True, slots=True)
class Expand:
    """Repetition along axes of stride 0. A write keeps the last of the repeated elements."""

    before: Shape
    after: Shape
    narrows: bool = False
    cost: int = 1

    def read(self, emitter: Emitter, x: Value, starts: Starts) -> Value:  # noqa: ARG002
        spec = TensorSpec(self.after, x.spec.dtype)
        return emitter.emit("aten.expand.default", (x, self.after), {"implicit": False}, spec)

    def write(self, emitter: Emitter, x: Value | None, update: Value, starts: Starts) -> Value:  # noqa: ARG002
        kept = (1,) * (len(self.after) - len(self.before)) + self.before
        for i, (one, many) in enumerate(zip(kept, self.after, strict=True)):
            if one != many:
                update = _slice(emitter, update, i, many - 1, 1)
        if kept == self.before:
            return update
        return emit_op(emitter, "aten.view.default", (update, self.before), self.before, update)
