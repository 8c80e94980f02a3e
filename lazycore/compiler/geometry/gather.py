"""Views that do not nest: every element by its flat index."""

from __future__ import annotations

from dataclasses import dataclass

from lazycore_plugin_api.dtypes import DType
from lazycore_plugin_api.ir import Value
from lazycore_plugin_api.specs import TensorSpec

from lazycore.compiler.geometry.layout import Axes, Axis
from lazycore.compiler.geometry.steps import Emitter, Shape, Starts, emit_op

__all__ = ["Gather", "index_axes"]


def index_axes(axes: Axes) -> Axes:
    """Logical axes with neighbours that step as one merged, so that the index is a sum of fewer terms."""
    merged: list[Axis] = []
    for n, s in axes:
        if merged and merged[-1][1] == n * s:
            n *= merged.pop()[0]
        merged.append((n, s))
    return tuple(merged)


@dataclass(frozen=True, slots=True)
class Gather:
    """``take`` and ``put`` by index, of a value in memory order (the ops count row-major, so its shape is free).

    The index is ``offset`` or, where ``moving``, the one run-time start, plus what the axes add; there are some unless
    the view moves. Where elements overlap, which write wins
    is the backend's choice, as it is for ``put``.
    """

    axes: Axes
    offset: int = 0
    moving: bool = False
    narrows: bool = True
    cost: int = 64

    @property
    def _shape(self) -> Shape:
        return tuple(n for n, _ in self.axes)

    def read(self, emitter: Emitter, x: Value, starts: Starts) -> Value:
        return emit_op(emitter, "aten.take.default", (x, self._index(emitter, starts)), self._shape, x)

    def write(self, emitter: Emitter, x: Value | None, update: Value, starts: Starts) -> Value:
        if x is None:
            raise TypeError("a gathered view is written into a value; none was given")
        args = (x, self._index(emitter, starts), update, False)
        return emit_op(emitter, "aten.put.default", args, x.spec.static_shape, x)

    def _index(self, emitter: Emitter, starts: Starts) -> Value:
        """int64 indices of the view's shape. Raises ValueError unless one start is given where the view moves."""
        if len(starts) != self.moving:
            raise ValueError(f"a gather takes {int(self.moving)} run-time offsets, but {len(starts)} were given")
        terms = list(starts)
        for i, axis in enumerate(self.axes):
            terms.append(self._term(emitter, i, axis, self.offset if i == 0 else 0))
        total = terms.pop()
        while terms:
            total = _add(emitter, terms.pop(), total)
        return total

    def _term(self, emitter: Emitter, i: int, axis: Axis, first: int) -> Value:
        """``first`` plus the part of the index that axis ``i`` adds, shaped to broadcast over the axes after it."""
        n, s = axis
        spec = TensorSpec((n,), DType.int64)
        args = (first, first + n * s, s)
        term = emitter.emit("aten.arange.start_step", args, {"dtype": DType.int64}, spec)
        shape = (n,) + (1,) * (len(self.axes) - i - 1)
        return term if len(shape) == 1 else emit_op(emitter, "aten.view.default", (term, shape), shape, term)


def _add(emitter: Emitter, a: Value, b: Value) -> Value:
    """Sum of two values, one of which has the sizes of the other's last axes or 1 there."""
    shapes = (a.spec.static_shape, b.spec.static_shape)
    rank = max(map(len, shapes))
    padded = [(1,) * (rank - len(s)) + s for s in shapes]
    shape = tuple(m if n == 1 else n for n, m in zip(*padded, strict=True))
    return emitter.emit("aten.add.Tensor", (a, b), {"alpha": 1}, TensorSpec(shape, DType.int64))
