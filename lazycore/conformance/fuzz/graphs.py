"""A random graph as data: choices, each of which is a move of a menu and where its operands are among what exists.

Any part of the choices is a graph again, so that one that is wrong can be made small.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
from lazycore_plugin_api import Argument, DType, HostArray, InvalidGraph, Node, Segment, Source, TensorSpec, Value
from lazycore_plugin_api.opset import infer

__all__ = ["Builder", "Choice", "Drawn", "Menu", "Move", "built", "chosen_at_random"]

_LARGEST = 4096
"""Elements: ``cat`` and products must not make a graph slow."""
_NEAR = 6
"""Operands come from the newest values, so that chains become deep."""


@dataclass(frozen=True)
class Choice:
    """``move``: of the menu, modulo its length; ``operand``: counted backwards from the newest value; ``knobs``: what
    the move decides by."""

    move: int
    operand: int
    knobs: tuple[int, int, int]


@dataclass(frozen=True)
class Drawn:
    """A graph with its inputs; ``origins``: the choice that each node comes from."""

    segment: Segment
    arrays: list[HostArray]
    origins: list[Choice] = field(default_factory=list)


class Builder:
    """What a move may see and do: append nodes, and find other values."""

    def __init__(self, inputs: Sequence[Value]) -> None:
        self.values = list(inputs)
        self.nodes: list[Node] = []

    def node(self, op: str, *args: Argument, **kwargs: Argument) -> Value:
        """Append a node with one output. Raises InvalidGraph for one that the opset has not, or not so small."""
        (spec,) = infer(Node(op, args, kwargs))
        if spec is None or spec.numel > _LARGEST:
            raise InvalidGraph(f"{op} yields {spec}")
        result = Value(max(v.id for v in self.values) + 1, spec)
        self.nodes.append(Node(op, args, kwargs, (result,), Source("random", len(self.nodes))))
        self.values.append(result)
        return result

    def like(self, x: Value, number: int) -> Value:
        """Another value of the same shape and dtype, or x itself."""
        same = [v for v in self.values if v.spec == x.spec]
        return same[number % len(same)]

    def any(self, dtype: DType, number: int) -> Value:
        """A recent value of the dtype. Raises InvalidGraph where there is none."""
        same = [v for v in self.values if v.spec.dtype is dtype][-2 * _NEAR :]
        if not same:
            raise InvalidGraph(f"no value of {dtype}")
        return same[number % len(same)]


Move: TypeAlias = Callable[[Builder, Value, tuple[int, int, int]], object]


@dataclass(frozen=True)
class Menu:
    """Moves, the shapes of the inputs, and what their elements are drawn from; without any, numbers within ±2."""

    dtype: DType
    moves: Sequence[Move]
    shapes: Sequence[tuple[int, ...]]
    elements: Sequence[float] = ()


def chosen_at_random(seed: int, size: int) -> list[Choice]:
    """The choices of a seed: the same everywhere."""
    numbers = np.random.default_rng(seed).integers(0, [1 << 16, _NEAR, *[1 << 16] * 3], (size, 5)).tolist()
    return [Choice(move, operand, (a, b, c)) for move, operand, a, b, c in numbers]


def built(choices: Sequence[Choice], menu: Menu, seed: int = 0) -> Drawn:
    """The graph of the choices that fit, and its inputs. All values that nobody reads are outputs."""
    inputs = tuple(Value(i, TensorSpec(shape, menu.dtype)) for i, shape in enumerate(menu.shapes))
    builder = Builder(inputs)
    origins: list[Choice] = []
    for choice in choices:
        before = len(builder.values), len(builder.nodes)
        try:
            _moved(builder, choice, menu)
        except InvalidGraph:  # the move does not fit what there is: it is left out
            del builder.values[before[0] :], builder.nodes[before[1] :]
        origins += [choice] * (len(builder.nodes) - len(origins))
    read = {v.id for node in builder.nodes for v in node.inputs()}
    outputs = tuple(v for node in builder.nodes for v in node.outputs if v.id not in read)
    generator = np.random.default_rng(seed)
    arrays = {v.id: _array(generator, v, menu.elements) for v in inputs}
    kept = tuple(v for v in inputs if v.id in read)
    segment = Segment(kept, builder.nodes, outputs, name="random graph")
    return Drawn(segment, [arrays[v.id] for v in kept], origins)


def _moved(builder: Builder, choice: Choice, menu: Menu) -> None:
    mine = [v for v in builder.values if v.spec.dtype is menu.dtype]
    x = mine[-1 - choice.operand % len(mine)]
    menu.moves[choice.move % len(menu.moves)](builder, x, choice.knobs)


def _array(generator: np.random.Generator, value: Value, elements: Sequence[float]) -> HostArray:
    shape, kind = value.spec.static_shape, value.spec.dtype.numpy
    drawn = generator.choice(np.asarray(elements), shape) if elements else generator.uniform(-2, 2, shape)
    return np.asarray(drawn).astype(kind)
