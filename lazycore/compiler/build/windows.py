"""Views of storages: reading through one, and writing through one."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from lazycore_plugin_api import DType, TensorSpec, Value

from lazycore.compiler.build.bindings import StartBinding
from lazycore.compiler.build.emitter import NodeWriter
from lazycore.compiler.geometry import (
    Recipe,
    emit_read,
    emit_write,
    flatten_memory,
    plan_dynamic,
    plan_gather,
    plan_view,
    unflatten_memory,
)
from lazycore.trace.call import Lifted, View
from lazycore.trace.layout import Layout

__all__ = ["Windows"]

_plan_view = lru_cache(4096)(plan_view)
_plan_dynamic = lru_cache(4096)(plan_dynamic)


class Windows:
    """Reads and writes through views; ``bind`` gives the 0-d int64 input that a start is bound to."""

    def __init__(self, writer: NodeWriter, bind: Callable[[StartBinding], Value]) -> None:
        self.writer = writer
        self.bind = bind

    def read(self, base: Value, layout: Layout, view: View) -> Value:
        """The view's value, conjugation and negation carried out."""
        if view.dtype is not None and view.dtype is not layout.dtype:
            base, layout = self._reinterpreted(base, layout, view.dtype)
        recipe, starts = self._plan(layout, view)
        return self._resolved(emit_read(self.writer, base, recipe, starts), view)

    def write(self, base: Value, layout: Layout, view: View, update: Value) -> Value:
        """The storage's next value. ``update`` has the view's shape and dtype."""
        if view.dtype is not None and view.dtype is not layout.dtype:
            flat, flat_layout = self._reinterpreted(base, layout, view.dtype)
            changed = self._write_plain(flat, flat_layout, view, update)
            back = self._bitcast(changed, layout.dtype)
            return unflatten_memory(self.writer, back, layout.size, layout.stride)
        return self._write_plain(base, layout, view, update)

    def _write_plain(self, base: Value, layout: Layout, view: View, update: Value) -> Value:
        recipe, starts = self._plan(layout, view)
        return emit_write(self.writer, base, self._resolved(update, view), recipe, starts)

    def _plan(self, layout: Layout, view: View) -> tuple[Recipe, tuple[Value, ...]]:
        geometry = (layout.size, layout.stride, view.size, view.stride)
        if not isinstance(view.offset, Lifted):
            return _plan_view(*geometry, view.offset), ()
        position = view.offset.position
        moving = None if view.wraps else _plan_dynamic(*geometry)
        if moving is None:
            return plan_gather(*geometry), (self.bind(StartBinding(position, 1, layout.numel + 1)),)
        return moving.recipe, tuple(self.bind(StartBinding(position, d, m)) for d, m in moving.places)

    def _resolved(self, value: Value, view: View) -> Value:
        # Both are their own inverse, so that reading and writing share this.
        if view.conj:
            value = self.writer.emit("aten.conj_physical.default", (value,), {}, value.spec)
        if view.neg:
            value = self.writer.emit("aten.neg.default", (value,), {}, value.spec)
        return value

    def _reinterpreted(self, base: Value, layout: Layout, dtype: DType) -> tuple[Value, Layout]:
        flat = self._bitcast(flatten_memory(self.writer, base, layout.size, layout.stride), dtype)
        size = flat.spec.static_shape
        return flat, Layout(size, (1,), dtype, None)

    def _bitcast(self, flat: Value, dtype: DType) -> Value:
        numel = flat.spec.nbytes // dtype.itemsize
        return self.writer.emit("aten.view.dtype", (flat, dtype), {}, TensorSpec((numel,), dtype))
