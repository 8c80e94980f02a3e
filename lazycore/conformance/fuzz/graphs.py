"""A random graph as data: choices, each of which is an op and its operands among what exists so far."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from lazycore_plugin_api import Argument, DType, HostArray, InvalidGraph, Node, Segment, TensorSpec, Value
from lazycore_plugin_api.opset import infer

__all__ = ["OPS", "Choice", "built", "chosen_at_random"]

# Ops whose result does not leave the range in which float32 is comparable, with the literals behind the operands.
OPS: tuple[tuple[str, int, tuple[Argument, ...], dict[str, Argument]], ...] = (
    ("aten.add.Tensor", 2, (), {"alpha": 0.5}),
    ("aten.sub.Tensor", 2, (), {"alpha": 1}),
    ("aten.mul.Tensor", 2, (), {}),
    ("aten.maximum.default", 2, (), {}),
    ("aten.minimum.default", 2, (), {}),
    ("aten.tanh.default", 1, (), {}),
    ("aten.sigmoid.default", 1, (), {}),
    ("aten.sin.default", 1, (), {}),
    ("aten.neg.default", 1, (), {}),
    ("aten.abs.default", 1, (), {}),
    ("aten.relu.default", 1, (), {}),
    ("aten.mul.Scalar", 1, (0.5,), {}),
    ("aten.add.Scalar", 1, (0.25, 1), {}),
    ("aten.clamp.default", 1, (-2.0, 2.0), {}),
    ("aten.permute.default", 1, ((1, 0),), {}),
    ("aten.flip.default", 1, ((0,),), {}),
    ("aten.view.default", 1, ((-1,),), {}),
    ("aten.unsqueeze.default", 1, (0,), {}),
    ("aten.slice.Tensor", 1, (0, 1, 3, 1), {}),
    ("aten.sum.dim_IntList", 1, ((0,), True), {"dtype": None}),
    ("aten.mean.dim", 1, ((-1,), True), {"dtype": None}),
    ("aten.amax.default", 1, ((-1,), True), {}),
    ("aten.mm.default", 2, (), {}),
    ("aten._softmax.default", 1, (-1, False), {}),
)
_SHAPES: tuple[tuple[int, ...], ...] = ((3, 4), (4,), (1, 4), (4, 3), ())


@dataclass(frozen=True)
class Choice:
    """``op``: a position in OPS; ``operands``: counted backwards from the newest value, modulo how many there are."""

    op: int
    operands: tuple[int, int]


def chosen_at_random(seed: int, size: int) -> list[Choice]:
    """The choices of a seed: the same everywhere."""
    generator = np.random.default_rng(seed)
    numbers = generator.integers(0, [len(OPS), 6, 12], (size, 3)).tolist()
    return [Choice(op, (a, b)) for op, a, b in numbers]


def built(choices: Sequence[Choice]) -> tuple[Segment, list[HostArray]]:
    """The segment of the choices that fit, and its inputs. All values that nobody reads are outputs."""
    generator = np.random.default_rng(len(choices))
    inputs = tuple(Value(i, TensorSpec(shape, DType.float32)) for i, shape in enumerate(_SHAPES))
    arrays = [np.asarray(generator.uniform(-2, 2, shape), np.float32) for shape in _SHAPES]
    values, nodes = list(inputs), []
    for choice in choices:
        node = _node(choice, values)
        if node is not None:
            nodes.append(node)
            values += node.outputs
    read = {v.id for node in nodes for v in node.inputs()}
    outputs = tuple(v for node in nodes for v in node.outputs if v.id not in read)
    used = [v.id in read for v in inputs]
    kept = tuple(v for v, is_read in zip(inputs, used, strict=True) if is_read)
    segment = Segment(kept, nodes, outputs, name="random graph")
    return segment, [a for a, is_read in zip(arrays, used, strict=True) if is_read]


def _node(choice: Choice, values: Sequence[Value]) -> Node | None:
    op, count, literals, kwargs = OPS[choice.op]
    operands = tuple(values[-1 - place % len(values)] for place in choice.operands[:count])
    if op == "aten.view.default":
        literals = ((operands[0].spec.numel,),)
    try:
        (spec,) = infer(Node(op, (*operands, *literals), kwargs))
    except InvalidGraph:
        return None
    if spec is None or spec.numel > 4096:
        return None
    return Node(op, (*operands, *literals), kwargs, (Value(values[-1].id + 1, spec),))
