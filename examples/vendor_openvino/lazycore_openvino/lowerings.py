"""The table of operators: what it lists, under the row's conditions, is what the backend takes.

OpenVINO on the CPU drops NaN in relu, pooling and softmax, and truncates int64 to 32 bits. The first is mended here by
comparisons, unless the option ``finite`` promises that there is nothing to mend; as to the second, integers are taken
as indices only, which the core has checked.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
import openvino
import openvino.opset15 as op
from lazycore_plugin_api import DType, Node

from lazycore_openvino.patterns import NORMALIZATION

Output = Any


@dataclass(frozen=True)
class Context:
    """What a lowering may ask: the node, whether values are known to be finite, whether its weights are folded."""

    node: Node
    finite: bool = False
    folded: bool = False


Lower = Callable[..., Any]


@dataclass(frozen=True)
class Row:
    """A lowering. ``integers``: which of its inputs and outputs are int64. ``refuses``: why a node is not taken."""

    lower: Lower
    integers: frozenset[int] = frozenset()
    refuses: Callable[[Node], str | None] = lambda _: None


def constant(number: Output | float) -> Output:
    """A number of the graph; one that varies is a value already."""
    return op.constant(np.float32(number)) if isinstance(number, (int, float)) else number


def integers(numbers: Sequence[int]) -> Output:
    return op.constant(np.array(numbers, np.int64))


def shape_of(x: Output) -> list[int]:
    """Of an output, or of a node that has one."""
    return list((x.output(0) if isinstance(x, openvino.Node) else x).get_shape())


def _nan_where(mask: Output, y: Output) -> Output:
    return op.select(mask, constant(float("nan")), y)


def relu(c: Context, x: Output) -> Output:
    if c.finite:
        return op.relu(x)
    return op.select(op.less_equal(x, constant(0.0)), constant(0.0), x)


def convolution(
    _: Context, x: Output, w: Output, bias: Output, stride: list[int], padding: list[int], dilation: list[int],
    _transposed: bool, _output_padding: list[int], groups: int,
) -> Output:  # fmt: skip
    if groups == 1:
        y = op.convolution(x, w, stride, padding, padding, dilation)
    else:
        shape = shape_of(w)
        grouped = op.reshape(w, integers([groups, shape[0] // groups, *shape[1:]]), False)
        y = op.group_convolution(x, grouped, stride, padding, padding, dilation)
    if bias is None:
        return y
    return op.add(y, op.reshape(bias, integers([1, -1, *[1] * (len(shape_of(y)) - 2)]), False))


def _max_pool(
    c: Context, x: Output, kernel: list[int], stride: list[int], padding: list[int], dilation: list[int], ceil: bool
) -> list[Output]:
    window = [stride or kernel, dilation, padding, padding, kernel, "ceil_torch" if ceil else "floor"]
    if c.finite:
        return _pooled(x, window).outputs()
    # -inf stands for NaN while the maxima are found; a second pooling says where there was any.
    missing = op.is_nan(x)
    best = _pooled(op.select(missing, constant(-np.inf), x), window)
    dropped = _pooled(op.convert(missing, "f32"), window)
    return [_nan_where(op.greater(dropped.output(0), constant(0.0)), best.output(0)), best.output(1)]


def _pooled(x: Output, window: list[Any]) -> Any:
    *places, rounding = window
    return op.max_pool(x, *places, rounding_type=rounding, index_element_type="i64", axis=2)


def _softmax(c: Context, x: Output, dim: int, _half: bool) -> Output:
    y = op.softmax(x, dim % max(len(shape_of(x)), 1))
    if c.finite:
        return y
    # One NaN or infinity makes a whole row NaN.
    proper = op.reduce_logical_and(op.less(x, constant(np.inf)), integers([dim]), True)
    return _nan_where(op.logical_not(proper), y)


def _linear(_: Context, x: Output, w: Output, b: Output = None) -> Output:
    y = op.matmul(x, w, False, True)
    return y if b is None else op.add(y, b)


def _addmm(_: Context, b: Output, x: Output, w: Output, beta: float, alpha: float) -> Output:
    return op.add(_times(op.matmul(x, w, False, False), alpha), _times(b, beta))


def _times(x: Output, factor: Output | float) -> Output:
    return x if isinstance(factor, (int, float)) and factor == 1 else op.multiply(x, constant(factor))


def attend(c: Context, q: Output, k: Output, v: Output, mask: Output, scale: Output, causal: bool = False) -> Output:
    if c.finite:
        return op.scaled_dot_product_attention(q, k, v, mask, scale, causal)
    scores = op.add(op.multiply(op.matmul(q, k, False, True), scale), mask)
    if causal:
        later = np.triu(np.full(shape_of(scores)[-2:], -np.inf, np.float32), 1)
        scores = op.add(scores, op.constant(later))
    return op.matmul(_softmax(c, scores, -1, False), v, False, False)


def _attention(c: Context, q: Output, k: Output, v: Output, *_: Any, scale: float | None, **__: Any) -> Output:
    factor = shape_of(q)[-1] ** -0.5 if scale is None else scale
    return attend(c, q, k, v, constant(0.0), constant(factor), bool(c.node.args[5]))


def _layer_norm(_: Context, x: Output, shape: list[int], w: Output, b: Output, epsilon: float) -> list[Output]:
    axes = integers(list(range(-len(shape), 0)))
    mean = op.reduce_mean(x, axes, True)
    centred = op.subtract(x, mean)
    variance = op.reduce_mean(op.multiply(centred, centred), axes, True)
    factor = op.divide(constant(1.0), op.sqrt(op.add(variance, constant(epsilon))))
    y = op.mvn(x, axes, True, epsilon, "inside_sqrt")
    y = y if w is None else op.multiply(y, w)
    return [y if b is None else op.add(y, b), mean, factor]


def _mean(_: Context, x: Output, dims: list[int], keep: bool, **__: Any) -> Output:
    return op.reduce_mean(x, integers(dims or list(range(len(shape_of(x))))), keep)


def _slice(_: Context, x: Output, dim: int, start: int | None, end: int | None, step: int) -> Output:
    size = shape_of(x)[dim]
    first, last, _step = slice(start, end, step).indices(size)
    return op.slice(x, integers([first]), integers([max(first, last)]), integers([step]), integers([dim]))


def _shaped(c: Context, x: Output, *_: Any, **__: Any) -> Output:
    return op.reshape(x, integers(c.node.outputs[0].spec.static_shape), False)


def _expand(c: Context, x: Output, *_: Any, **__: Any) -> Output:
    return op.broadcast(x, integers(c.node.outputs[0].spec.static_shape))


def _add(build: Lower) -> Lower:
    def lower(_: Context, x: Output, y: Output, alpha: float) -> Output:
        return build(x, _times(y, alpha))

    return lower


def _plain(build: Lower) -> Lower:
    return lambda _, *operands, **__: build(*operands)


def _convolution_refuses(node: Node) -> str | None:
    return "transposed convolutions" if node.args[6] else None


def _attention_refuses(node: Node) -> str | None:
    shapes = [a.spec.shape[:-2] for a in node.args[:3]]  # type: ignore[union-attr]
    if node.args[3] is not None or node.args[4] or node.kwargs["enable_gqa"] or len(set(shapes)) > 1:
        return "attention with a mask, dropout or grouped heads"
    return None


def _cast(c: Context, x: Output, **_: Any) -> Output:
    x = op.convert(x, "f32") if x.get_element_type() == openvino.Type.boolean else x
    rounds = c.node.outputs[0].spec.dtype is DType.bfloat16
    return op.convert(op.convert(x, "bf16"), "f32") if rounds else x


def _cast_refuses(node: Node) -> str | None:
    return "casts to bool" if node.outputs[0].spec.dtype is DType.bool else None


def _gelu(_: Context, x: Output, approximate: str) -> Output:
    return op.gelu(x, "tanh" if approximate == "tanh" else "erf")


LOWERINGS: dict[str, Row] = {
    "aten.convolution.default": Row(convolution, refuses=_convolution_refuses),
    "aten.max_pool2d_with_indices.default": Row(lambda c, *a: _max_pool(c, *a), frozenset({-1})),
    "aten.linear.default": Row(_linear),
    "aten.addmm.default": Row(_addmm),
    "aten.mm.default": Row(_plain(lambda x, y: op.matmul(x, y, False, False))),
    "aten.bmm.default": Row(_plain(lambda x, y: op.matmul(x, y, False, False))),
    "aten.scaled_dot_product_attention.default": Row(_attention, refuses=_attention_refuses),
    "aten._softmax.default": Row(_softmax),
    "aten.native_layer_norm.default": Row(_layer_norm),
    "aten.embedding.default": Row(lambda _, w, i, *__: op.gather(w, i, op.constant(np.int64(0))), frozenset({1})),
    "aten.mean.dim": Row(_mean),
    "aten.add.Tensor": Row(_add(op.add)),
    "aten.sub.Tensor": Row(_add(op.subtract)),
    "aten.mul.Tensor": Row(_plain(op.multiply)),
    "aten.div.Tensor": Row(_plain(op.divide)),
    "aten.relu.default": Row(relu),
    "aten.gelu.default": Row(_gelu),
    "aten.tanh.default": Row(_plain(op.tanh)),
    "aten.sigmoid.default": Row(_plain(op.sigmoid)),
    "aten._to_copy.default": Row(_cast, refuses=_cast_refuses),
    "aten.view.default": Row(_shaped),
    "aten.expand.default": Row(_expand),
    "aten.permute.default": Row(lambda _, x, dims: op.transpose(x, integers(np.mod(dims, max(len(dims), 1)).tolist()))),
    "aten.slice.Tensor": Row(_slice),
    "aten.cat.default": Row(lambda _, tensors, dim: op.concat(tensors, dim)),
    "aten.logical_not.default": Row(_plain(op.logical_not)),
    "aten.eq.Scalar": Row(lambda _, x, y: op.equal(x, constant(y))),
    "aten.all.dim": Row(lambda _, x, dim, keep: op.reduce_logical_and(x, integers([dim]), keep)),
    "aten.masked_fill.Scalar": Row(lambda _, x, mask, y: op.select(mask, constant(y), x)),
    "aten.where.self": Row(_plain(op.select)),
    "aten.scalar_tensor.default": Row(lambda _, number, **__: constant(number)),
}
"""Operator -> row."""


def objection(node: Node) -> str | None:
    """Why a node is not taken, or None."""
    if node.body is not None:
        reasons = (objection(inner) for inner in node.body.nodes if inner.op != NORMALIZATION)
        return next((reason for reason in reasons if reason), None)
    row = LOWERINGS.get(node.op)
    if row is None:
        return f"no lowering of {node.op}"
    values = [*node.inputs(), *node.outputs]
    if any(prod(v.spec.static_shape) == 0 for v in values):
        return "tensors without elements"
    whole = {p % len(values) for p in row.integers}
    if any((v.spec.dtype is DType.int64) != (p in whole) for p, v in enumerate(values)):
        return f"integers in {node.op}"
    return row.refuses(node)
