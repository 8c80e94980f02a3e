"""The builder proper: calls in order, each read, promoted, emitted and stored."""

from __future__ import annotations

from collections.abc import Sequence

from lazycore_plugin_api import Argument, DType, Graph, TensorSpec, Value

from lazycore.compiler.build.bindings import (
    Binding,
    Built,
    InputBinding,
    NumberBinding,
    StartBinding,
)
from lazycore.compiler.build.emitter import NodeWriter
from lazycore.compiler.build.index_guards import IndexGuards
from lazycore.compiler.build.numbers import keep_numbers
from lazycore.compiler.build.random import DRAWS
from lazycore.compiler.build.windows import Windows
from lazycore.trace.call import ALIAS, Call, IndexCheck, Lifted, Number, Operand, Template, View, Write
from lazycore.trace.layout import Layout

__all__ = ["build_graph"]


def build_graph(calls: Sequence[Call], outputs: Sequence[int]) -> Built:
    """The graph that computes the trace values ``outputs`` from the trace's inputs, views and writes made explicit."""
    builder = _Builder()
    for call in calls:
        builder.call(call)
    return builder.finish(outputs)


class _Builder:
    def __init__(self) -> None:
        self.writer = NodeWriter()
        self.windows = Windows(self.writer, self._start)
        self.layouts: dict[int, Layout] = {}
        self.values: dict[int, Value] = {}
        self.inputs: dict[Binding, Value] = {}
        # Trace value -> the one that takes its place in its storage.
        self.successors: dict[int, int] = {}
        self.guards = IndexGuards(self.writer, self._binding_of)
        # A view is read once for each value of its base; the graph is SSA, so the reading stays valid.
        self._reads: dict[tuple[int, View], Value] = {}

    def call(self, call: Call) -> None:
        """Append one call: operands read and cast, the op, results named, mutated storages written."""
        self.writer.source = call.source
        self.layouts.update(call.layouts)
        given, call = call, keep_numbers(call, self._spec_of)
        args = tuple(self._argument(a, self._dtype_of(call, i), call.compute) for i, a in enumerate(call.args))
        kwargs = {k: self._argument(a, call.compute, call.compute) for k, a in call.kwargs.items()}
        for check in call.checks:
            args = self._guarded(check, args, call)
        results = self._emit(call, args, kwargs)
        if call is not given:
            results = tuple(self.writer.cast(r, s.dtype) for r, s in zip(results, given.results, strict=True) if s)
        for value, result in zip(call.values, results, strict=False):
            if value is not None:
                self.values[value] = result
        for write in call.writes:
            self._write(write, results[write.result])

    def finish(self, outputs: Sequence[int]) -> Built:
        """The graph, its inputs numbered in the order of first use."""
        results = [self._value(o) for o in outputs]
        flags = self.guards.flag_checks(len(results))
        results += self.guards.flag_values()
        graph = Graph(tuple(self.inputs.values()), self.writer.nodes, tuple(results))
        bindings = tuple(self.inputs)
        kept = {value.id for value in results}
        donatable = frozenset(
            i
            for i, (b, value) in enumerate(self.inputs.items())
            if isinstance(b, InputBinding) and ~b.position in self.successors and value.id not in kept
        )
        replaced = self._replaced(bindings, donatable, outputs)
        return Built(graph, bindings, donatable, replaced, tuple(self.guards.input_checks), tuple(flags))

    def _replaced(
        self, bindings: Sequence[Binding], donatable: frozenset[int], outputs: Sequence[int]
    ) -> dict[int, int]:
        places = {value: position for position, value in enumerate(outputs)}
        found = {}
        for i in donatable:
            binding = bindings[i]
            assert isinstance(binding, InputBinding)
            last = ~binding.position
            while last in self.successors:
                last = self.successors[last]
            if last in places:
                found[i] = places[last]
        return found

    def _spec_of(self, operand: Operand) -> TensorSpec:
        layout, view = self.layouts[operand.value], operand.view
        if view is None:
            return layout.spec
        return TensorSpec(view.size, view.dtype or layout.dtype)

    def _dtype_of(self, call: Call, position: int) -> DType | None:
        promoted = call.promoted is None or position in call.promoted
        return call.compute if promoted else None

    def _argument(self, template: Template, dtype: DType | None, number: DType | None) -> Argument:
        """One argument; ``dtype`` is what tensors are cast to, ``number`` what numbers are read as, None for as is."""
        if isinstance(template, Operand):
            value = self.read(template)
            return value if dtype is None else self.writer.cast(value, dtype)
        if isinstance(template, Number):
            return self._number(template, number)
        if isinstance(template, Lifted):
            return self._bound(NumberBinding(template.position, number or template.dtype))
        if isinstance(template, tuple):
            return tuple(self._argument(t, dtype, number) for t in template)
        literal: Argument = template
        return literal

    def _number(self, number: Number, dtype: DType | None) -> Value:
        given = number.number
        if isinstance(given, Lifted):
            return self._bound(NumberBinding(given.position, dtype or given.dtype))
        kind = dtype or _natural_dtype(given)
        return self.writer.emit("aten.scalar_tensor.default", (given,), {"dtype": kind}, TensorSpec((), kind))

    def read(self, operand: Operand) -> Value:
        """The IR value of an operand."""
        base = self._value(operand.value)
        if operand.view is None:
            return base
        key = (base.id, operand.view)
        found = self._reads.get(key)
        if found is None:
            found = self._reads[key] = self.windows.read(base, self.layouts[operand.value], operand.view)
        return found

    def _emit(self, call: Call, args: tuple[Argument, ...], kwargs: dict[str, Argument]) -> tuple[Value, ...]:
        if call.op == ALIAS:
            (value,) = args
            assert isinstance(value, Value)
            return (value,)
        # A result that was not asked for (None in torch) still has its place: backends give an empty array for it.
        specs = tuple(r or TensorSpec((0,), DType.float32) for r in call.results)
        draw = DRAWS.get(call.op)
        if draw is not None:
            return draw(self.writer, args, specs)
        return self.writer.emit_many(call.op, args, kwargs, specs)

    def _write(self, write: Write, update: Value) -> None:
        target = write.target
        layout = self.layouts[target.value]
        base = self._value(target.value)
        view = target.view
        dtype = layout.dtype if view is None or view.dtype is None else view.dtype
        update = self.writer.cast(update, dtype)
        self.values[write.value] = update if view is None else self.windows.write(base, layout, view, update)
        self.layouts[write.value] = layout
        self.successors[target.value] = write.value

    def _guarded(self, check: IndexCheck, args: tuple[Argument, ...], call: Call) -> tuple[Argument, ...]:
        """The arguments with a checked operand in range. Numbers that are part of the key were looked at before."""
        given, operand = call.args[check.argument], args[check.argument]
        if not isinstance(operand, Value) and not isinstance(operand, tuple):
            return args
        if isinstance(given, Number) and not isinstance(given.number, Lifted):
            return args
        # A condition on data is an alias of it, a name that says nothing to the program.
        where = f"{call.source}" if call.op == ALIAS else f"{call.op} at {call.source}"
        if check.item is None or not isinstance(operand, tuple):
            assert isinstance(operand, Value)
            guarded: Argument = self.guards.guard(operand, check, where)
        else:
            index = operand[check.item]
            assert isinstance(index, Value)
            item = self.guards.guard(index, check, where)
            guarded = (*operand[: check.item], item, *operand[check.item + 1 :])
        return (*args[: check.argument], guarded, *args[check.argument + 1 :])

    def _binding_of(self, value: Value) -> Binding | None:
        return next((b for b, v in self.inputs.items() if v.id == value.id), None)

    def _value(self, number: int) -> Value:
        if number >= 0:
            return self.values[number]
        layout = self.layouts[number]
        return self._bound(InputBinding(~number), layout.spec)

    def _start(self, binding: StartBinding) -> Value:
        return self._bound(binding, TensorSpec((), DType.int64))

    def _bound(self, binding: Binding, spec: TensorSpec | None = None) -> Value:
        found = self.inputs.get(binding)
        if found is None:
            if isinstance(binding, NumberBinding):
                spec = TensorSpec((), binding.dtype)
            assert spec is not None
            found = self.inputs[binding] = self.writer.fresh(spec)
        return found


def _natural_dtype(number: bool | int | float | complex) -> DType:
    if isinstance(number, bool):
        return DType.bool
    if isinstance(number, int):
        return DType.int64
    return DType.float32 if isinstance(number, float) else DType.complex64
