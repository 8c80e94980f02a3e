"""A graph builder and an interpreter over NumPy for exactly the operators that geometry emits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from lazycore_plugin_api.dtypes import DType
from lazycore_plugin_api.ir import Argument, Graph, Node, Value
from lazycore_plugin_api.specs import TensorSpec
from lazycore_plugin_api.verifier import verify

Array = np.ndarray[Any, Any]


@dataclass
class Builder:
    """Collects nodes; ``input`` declares what ``run`` is to be given."""

    inputs: list[Value] = field(default_factory=list)
    nodes: list[Node] = field(default_factory=list)
    count: int = 0

    def input(self, shape: tuple[int, ...], dtype: DType = DType.int64) -> Value:
        self.inputs.append(self._value(TensorSpec(tuple(shape), dtype)))
        return self.inputs[-1]

    def emit(self, op: str, args: tuple[Argument, ...], kwargs: dict[str, Argument], spec: TensorSpec) -> Value:
        out = self._value(spec)
        self.nodes.append(Node(op, args, kwargs, (out,)))
        return out

    def ops(self) -> list[str]:
        return [node.op for node in self.nodes]

    def run(self, output: Value, *arrays: Array) -> Array:
        verify(Graph(tuple(self.inputs), self.nodes, (output,)))
        known = dict(zip((v.id for v in self.inputs), arrays, strict=True))
        for node in self.nodes:
            result = evaluate(node, known)
            spec = node.outputs[0].spec
            assert (result.shape, result.dtype) == (spec.shape, spec.dtype.numpy), node
            known[node.outputs[0].id] = result
        return known[output.id]

    def _value(self, spec: TensorSpec) -> Value:
        self.count += 1
        return Value(self.count, spec)


def evaluate(node: Node, known: dict[int, Array]) -> Array:
    """One node. It may not be idle: an identity permutation, reshape, slice or expansion is refused."""

    def concrete(argument: Argument) -> Any:
        if isinstance(argument, Value):
            return known[argument.id]
        return tuple(map(concrete, argument)) if isinstance(argument, tuple) else argument

    kwargs = {k: concrete(a) for k, a in node.kwargs.items()}
    return np.asarray(OPS[node.op](*map(concrete, node.args), **kwargs))


def permute(x: Array, dims: tuple[int, ...]) -> Array:
    assert dims != tuple(range(x.ndim))
    return x.transpose(dims)


def view(x: Array, size: tuple[int, ...]) -> Array:
    assert size != x.shape
    return x.reshape(size)


def window(x: Array, dim: int, start: int, end: int, step: int) -> tuple[slice, ...]:
    assert 0 <= start <= end <= x.shape[dim]
    assert step >= 1
    assert (start, end, step) != (0, x.shape[dim], 1)
    return (slice(None),) * dim + (slice(start, end, step),)


def slice_(x: Array, dim: int, start: int, end: int, step: int) -> Array:
    return x[window(x, dim, start, end, step)]


def slice_scatter(x: Array, src: Array, dim: int, start: int, end: int, step: int) -> Array:
    return replaced(x, window(x, dim, start, end, step), src)


def box(x: Array, starts: tuple[Any, ...], sizes: tuple[int, ...]) -> tuple[slice, ...]:
    assert len(starts) == len(sizes) == x.ndim
    assert sizes != x.shape
    assert all(s >= 0 and s + n <= e for s, n, e in zip(starts, sizes, x.shape, strict=True))
    return tuple(slice(int(s), int(s) + n) for s, n in zip(starts, sizes, strict=True))


def dynamic_slice(x: Array, starts: tuple[Any, ...], sizes: tuple[int, ...]) -> Array:
    return x[box(x, starts, sizes)]


def dynamic_update_slice(x: Array, update: Array, starts: tuple[Any, ...]) -> Array:
    return replaced(x, box(x, starts, update.shape), update)


def replaced(x: Array, where: Any, src: Array) -> Array:
    assert x[where].shape == src.shape
    result = x.copy()
    result[where] = src
    return result


def expand(x: Array, size: tuple[int, ...], implicit: bool) -> Array:
    assert implicit is False
    assert size != x.shape
    return np.broadcast_to(x, size)


def take(x: Array, index: Array) -> Array:
    assert index.size == 0 or 0 <= index.min() <= index.max() < x.size
    return x.reshape(-1)[index]


def put(x: Array, index: Array, source: Array, accumulate: bool) -> Array:
    assert accumulate is False
    assert index.shape == source.shape
    result = x.reshape(-1).copy()
    result[index.reshape(-1)] = source.reshape(-1)
    return result.reshape(x.shape)


def arange(start: int, end: int, step: int, dtype: DType) -> Array:
    return np.arange(start, end, step, dtype=dtype.numpy)


def add(a: Array, b: Array, alpha: int) -> Array:
    assert a.dtype == b.dtype
    assert alpha == 1
    return a + b


OPS: dict[str, Callable[..., Any]] = {
    "aten.permute.default": permute,
    "aten.view.default": view,
    "aten.slice.Tensor": slice_,
    "aten.slice_scatter.default": slice_scatter,
    "aten.expand.default": expand,
    "aten.take.default": take,
    "aten.put.default": put,
    "aten.arange.start_step": arange,
    "aten.add.Tensor": add,
    "lazycore.dynamic_slice.default": dynamic_slice,
    "lazycore.dynamic_update_slice.default": dynamic_update_slice,
}
