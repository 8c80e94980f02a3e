"""A segment as one Relax program: kernels called in order, each with the elementwise nodes that its operands take."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from lazycore_plugin_api import Argument, BackendError, Node, Segment, TensorSpec, Value

from lazycore_tvm.arrays import Array, stored
from lazycore_tvm.forms import Forms
from lazycore_tvm.host_calls import HostCall
from lazycore_tvm.kernels import build
from lazycore_tvm.registry import TABLE, Kind, Lowering
from lazycore_tvm.scalars import literal, storage_type
from lazycore_tvm.sizes import as_relax, elements, extent, guess, sized, symbol, symbols_of
from lazycore_tvm.tvm_runtime import tvm

__all__ = ["Emitter"]

# Beyond it a chain's values outgrow the registers.
_LONGEST_CHAIN = 64


class Emitter:
    """Builds one segment's module, which calls functions on the host by their position in ``host_calls``. Where sizes
    vary, ``main`` gets the symbols' values behind the tensors, and hands them on to each kernel."""

    def __init__(self, segment: Segment) -> None:
        self._calls = 0
        self._segment = segment = sized(segment)
        self._symbols = {name: tvm.tirx.Var(name, "int64") for name in symbols_of(segment)}
        self._builder = tvm.relax.BlockBuilder()
        self._arrays: dict[int, Array] = {}
        self._variables: dict[str, Any] = {}
        self._forms = Forms()
        self._kernels: dict[Any, tuple[Any, list[int]]] = {}
        uses = [v.id for node in segment.nodes for v in node.inputs()]
        self._uses = Counter([*uses, *(v.id for v in segment.outputs)])
        self._returned = {v.id for v in segment.outputs}

    def module(self) -> Any:
        """The module, whose ``main`` takes and returns flat tensors; empty tensors are neither taken nor returned.

        Raises BackendError, with the op and the user's line, where a lowering fails."""
        parameters = [self._parameter(v) for v in self._segment.arguments if elements(v.spec)]
        if self._symbols:
            parameters.append(tvm.relax.Var("sizes", tvm.relax.ShapeType(list(self._symbols.values()))))
        with self._builder.function("main", parameters):
            with self._builder.dataflow():
                for node in self._segment.nodes:
                    self._emit(node)
                results = self._builder.emit_output(tvm.relax.Tuple(list(self._results())))
            self._builder.emit_func_output(results)
        return self._builder.get()

    def _parameter(self, value: Value) -> Any:
        variable = tvm.relax.Var(f"v{value.id}", self._type(value.spec))
        self._arrays[value.id] = self._memory(variable, value.spec)
        return variable

    def _memory(self, variable: Any, spec: TensorSpec) -> Array:
        name = f"p{len(self._variables)}"
        self._variables[name] = variable
        buffer = tvm.tirx.decl_buffer((extent(elements(spec)),), storage_type(spec.dtype), name)
        return stored(buffer, spec.shape, spec.dtype, variable)

    def _results(self) -> Iterator[Any]:
        """The outputs' variables, each a buffer of its own."""
        taken = {id(self._arrays[v.id].memory) for v in self._segment.arguments if elements(v.spec)}
        for value in self._segment.outputs:
            if elements(value.spec):
                array = self._arrays[value.id]
                if array.memory is None or id(array.memory) in taken:
                    (array,) = self._computed([array], [value.spec], "copy")
                taken.add(id(array.memory))
                yield array.memory

    def _emit(self, node: Node) -> None:
        try:
            row = TABLE[node.op]
            wanted = [v for v in node.outputs if elements(v.spec)]
            if wanted:
                self._prepare(node, row, max(guess(elements(v.spec)) for v in wanted))
                self._host(node, wanted) if row.kind is Kind.host else self._lower(node, row)
        except Exception as error:
            where = f" ({node.source})" if node.source else ""
            raise BackendError(f"tvm: lowering {node.op}{where}: {type(error).__name__}: {error}") from error

    def _prepare(self, node: Node, row: Lowering, size: int) -> None:
        """Compute what the node would otherwise compute more than once."""
        for value in node.inputs():
            array = self._arrays.get(value.id)
            if array is None or array.memory is not None:
                continue
            repeated = row.rereads or guess(array.size) < size or array.cost > _LONGEST_CHAIN
            if row.kind is Kind.host or (array.cost and repeated) or (row.divides and array.divided):
                (self._arrays[value.id],) = self._computed([array], [value.spec], "fused")

    def _lower(self, node: Node, row: Lowering) -> None:
        args = [self._argument(a) for a in node.args]
        kwargs: dict[str, Any] = {name: self._argument(a) for name, a in node.kwargs.items()}
        specs = [v.spec for v in node.outputs]
        if row.needs_out:
            kwargs["out"] = specs
        results = row.function(*args, **kwargs)
        results = results if isinstance(results, tuple) else (results,)
        pairs = zip(results, node.outputs, strict=True)
        kept = [(_checked(r if r is not None else _unasked(v.spec), v.spec), v) for r, v in pairs if elements(v.spec)]
        kwargs.pop("out", None)
        self._forms.add(node, args, kwargs, {node.outputs.index(value): array for array, value in kept})
        self._bind(node, row, kept)

    def _bind(self, node: Node, row: Lowering, results: list[tuple[Array, Value]]) -> None:
        values = [v for _, v in results]
        if not any(self._is_due(array, value, row) for array, value in results):
            arrays = [array for array, _ in results]
        else:
            arrays = self._computed([a for a, _ in results], [v.spec for v in values], _name(node))
        self._arrays.update(zip((v.id for v in values), arrays, strict=True))

    def _is_due(self, array: Array, value: Value, row: Lowering) -> bool:
        if array.cost == 0:
            return False
        wraps = row.wraps and value.spec.dtype.is_integral
        return row.kind is Kind.kernel or wraps or self._uses[value.id] != 1 or value.id in self._returned

    def _computed(self, arrays: Sequence[Array], specs: Sequence[TensorSpec], name: str) -> list[Array]:
        """The arrays as memory, written by one kernel."""
        kernel, variables = self._kernel(arrays, name)
        variables += [tvm.relax.prim_value(own) for own in self._symbols.values()]
        types = [self._type(spec) for spec in specs]
        result = self._builder.emit(tvm.relax.call_tir(kernel, variables, types if len(types) > 1 else types[0]))
        return self._unpacked(result, specs)

    def _kernel(self, arrays: Sequence[Array], name: str) -> tuple[Any, list[Any]]:
        """The kernel that writes the arrays, built where there is none of its form, and its operands."""
        key, memory = self._forms.key(arrays)
        if key not in self._kernels:
            function, operands = build(arrays, [symbol(name) for name in self._symbols])
            read = [self._variables[operand] for operand in operands]
            numbers = [next(n for n, own in enumerate(memory) if own is variable) for variable in read]
            self._kernels[key] = self._builder.add_func(function, name), numbers
        kernel, numbers = self._kernels[key]
        return kernel, [memory[n] for n in numbers]

    def _unpacked(self, result: Any, specs: Sequence[TensorSpec]) -> list[Array]:
        if len(specs) == 1:
            return [self._memory(result, specs[0])]
        items = [self._builder.emit(tvm.relax.TupleGetItem(result, i)) for i in range(len(specs))]
        return [self._memory(item, spec) for item, spec in zip(items, specs, strict=True)]

    def _host(self, node: Node, wanted: Sequence[Value]) -> None:
        operands = [self._arrays[v.id].memory for v in node.inputs() if elements(v.spec)]
        types = [self._type(v.spec) for v in wanted]
        arguments = [tvm.relax.prim_value(self._calls), *operands]
        self._calls += 1
        result = self._builder.emit(
            tvm.relax.call_dps_packed(HostCall.NAME, arguments, types if len(types) > 1 else types[0])
        )
        arrays = self._unpacked(result, [v.spec for v in wanted])
        self._arrays.update(zip((v.id for v in wanted), arrays, strict=True))

    def _type(self, spec: TensorSpec) -> Any:
        return tvm.relax.TensorType((as_relax(elements(spec), self._symbols),), storage_type(spec.dtype))

    def _argument(self, argument: Argument) -> Any:
        if isinstance(argument, Value):
            return self._arrays.get(argument.id) or _nothing(argument.spec)
        if isinstance(argument, tuple):
            return tuple(self._argument(a) for a in argument)
        return argument


def _nothing(spec: TensorSpec) -> Array:
    """An empty tensor: there is no element to be asked for."""

    def at(*_: Any) -> Any:
        raise IndexError(f"an element of the empty {spec}")

    return Array(spec.shape, spec.dtype, at)


def _unasked(spec: TensorSpec) -> Array:
    """Zeros for a result that nobody reads."""
    return Array(spec.shape, spec.dtype, lambda *_: literal(0, spec.dtype), lambda _: literal(0, spec.dtype), 1)


def _checked(result: Any, spec: TensorSpec) -> Array:
    if not isinstance(result, Array) or result.shape != spec.shape or result.dtype is not spec.dtype:
        told = f"{result.dtype.short}{list(result.shape)}" if isinstance(result, Array) else repr(result)
        raise TypeError(f"the lowering gives {told} where the IR says {spec}")
    return result


def _name(node: Node) -> str:
    return node.base.rpartition(".")[2]
