"""Random segments: movement, arithmetic and reductions on top of each other, as fusion meets them."""

from __future__ import annotations

import random
from collections.abc import Callable
from itertools import count
from math import prod

import numpy as np
from lazycore_plugin_api import Argument, DType, HostArray, Node, Segment, Source, TensorSpec, Value

SPECIAL = [np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 3.0, 1e30, 1e-30]


class RandomGraph:
    """A segment of ``size`` nodes over a few inputs, and arrays to run it with."""

    def __init__(self, seed: int, size: int, dtype: DType) -> None:
        self._random = random.Random(seed)
        self._ids = count()
        self._nodes: list[Node] = []
        self._live: list[Value] = [self._value(shape, dtype) for shape in ((2, 3, 4), (2, 3, 4), (4,))]
        inputs = tuple(self._live)
        for _ in range(size):
            self._live.append(self._random.choice(STEPS)(self, self._random.choice(self._live[-6:])))
        outputs = tuple(dict.fromkeys([self._live[-1], *self._random.sample(self._live, 3)]))
        self.segment = Segment(inputs, self._nodes, outputs, name=f"random{seed}")
        self.arrays = [self._array(v) for v in inputs]

    def _value(self, shape: tuple[int, ...], dtype: DType) -> Value:
        return Value(next(self._ids), TensorSpec(shape, dtype))

    def _array(self, value: Value) -> HostArray:
        shape, numpy = value.spec.static_shape, value.spec.dtype.numpy
        if value.spec.dtype.is_floating:
            return np.array(self._random.choices(SPECIAL, k=prod(shape)), np.float64).reshape(shape).astype(numpy)
        return np.array(self._random.choices(range(-9, 9), k=prod(shape))).reshape(shape).astype(numpy)

    def node(self, op: str, spec: TensorSpec, *args: Argument, **kwargs: Argument) -> Value:
        """Append a node with one output."""
        result = Value(next(self._ids), spec)
        self._nodes.append(Node(op, args, kwargs, (result,), Source("random", len(self._nodes))))
        return result

    def unary(self, x: Value) -> Value:
        """neg, abs or relu."""
        return self.node(f"aten.{self._random.choice(['neg', 'abs', 'relu'])}.default", x.spec, x)

    def binary(self, x: Value) -> Value:
        """Arithmetic with another value of the same shape, often x itself."""
        other = self._random.choice([v for v in self._live if v.spec == x.spec])
        op = self._random.choice(["add", "sub", "mul"])
        return self.node(f"aten.{op}.Tensor", x.spec, x, other, **({} if op == "mul" else {"alpha": 1}))

    def scaled(self, x: Value) -> Value:
        """Arithmetic with a number that simplifiers like."""
        return self.node("aten.mul.Scalar", x.spec, x, self._random.choice([0, 1, -1]))

    def compared(self, x: Value) -> Value:
        """x where a comparison with a value of its shape holds, else the other."""
        other = self._random.choice([v for v in self._live if v.spec == x.spec])
        op = self._random.choice(["eq", "ne", "lt", "le", "gt", "ge"])
        mask = self.node(f"aten.{op}.Tensor", TensorSpec(x.spec.shape, DType.bool), x, other)
        return self.node("aten.where.self", x.spec, mask, x, other)

    def view(self, x: Value) -> Value:
        """Another shape of the same elements."""
        size = x.spec.numel
        first = self._random.choice([n for n in range(1, size + 1) if size % n == 0] or [0])
        shape = (first, size // first) if first else x.spec.static_shape
        return self.node("aten.view.default", TensorSpec(shape, x.spec.dtype), x, shape)

    def permute(self, x: Value) -> Value:
        """Dimensions in another order."""
        dims = self._random.sample(range(len(x.spec.shape)), len(x.spec.shape))
        shape = tuple(x.spec.shape[d] for d in dims)
        return self.node("aten.permute.default", TensorSpec(shape, x.spec.dtype), x, tuple(dims))

    def slice(self, x: Value) -> Value:
        """A part of a dimension."""
        if not x.spec.shape or max(x.spec.static_shape) < 2:
            return x
        dim = self._random.choice([d for d, n in enumerate(x.spec.static_shape) if n > 1])
        size = x.spec.static_shape[dim]
        start, step = self._random.randrange(size - 1), self._random.choice([1, 1, 2])
        shape = self._with(x, dim, len(range(start, size, step)))
        return self.node("aten.slice.Tensor", TensorSpec(shape, x.spec.dtype), x, dim, start, size, step)

    def roll(self, x: Value) -> Value:
        """Moved in a circle."""
        if not x.spec.shape:
            return x
        dim = self._random.randrange(len(x.spec.shape))
        return self.node("aten.roll.default", x.spec, x, (self._random.randrange(5),), (dim,))

    def cat(self, x: Value) -> Value:
        """Joined to itself."""
        if not x.spec.shape or x.spec.numel > 200:
            return x
        dim = self._random.randrange(len(x.spec.shape))
        return self.node(
            "aten.cat.default", TensorSpec(self._with(x, dim, 2 * x.spec.static_shape[dim]), x.spec.dtype), (x, x), dim
        )

    def amax(self, x: Value) -> Value:
        """The largest size along a dimension, which stays; of zeros of both signs either is right."""
        if not x.spec.shape:
            return x
        x = self.node("aten.abs.default", x.spec, x)
        dim = self._random.randrange(len(x.spec.shape))
        top = self.node("aten.amax.default", TensorSpec(self._with(x, dim, 1), x.spec.dtype), x, (dim,), True)
        return self.node("aten.expand.default", x.spec, top, x.spec.static_shape, implicit=False)

    def _with(self, x: Value, dim: int, size: int) -> tuple[int, ...]:
        return tuple(size if d == dim else n for d, n in enumerate(x.spec.static_shape))


STEPS: tuple[Callable[[RandomGraph, Value], Value], ...] = (
    RandomGraph.unary, RandomGraph.binary, RandomGraph.binary, RandomGraph.scaled, RandomGraph.compared,
    RandomGraph.view, RandomGraph.view, RandomGraph.permute, RandomGraph.slice, RandomGraph.roll, RandomGraph.cat,
    RandomGraph.amax,
)  # fmt: skip
