"""Composites: what the patterns matched."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import openvino.opset15 as op

from lazycore_openvino.lowerings import Context, attend, constant, convolution, integers, relu
from lazycore_openvino.patterns import CONVOLUTION, NORMALIZATION, find

Output = Any


def _conv(
    c: Context, x: Output, w: Output, b: Output = None, gamma: Output = None, beta: Output = None,
    mean: Output = None, variance: Output = None, residual: Output = None,
) -> Output:  # fmt: skip
    source, normalization = find(c.node, CONVOLUTION), find(c.node, NORMALIZATION)
    assert source is not None
    # Of a folded one beta is the whole shift, that of the convolution's own bias included.
    y = convolution(c, x, w, beta if c.folded else b, *source.args[3:])
    if normalization is not None and not c.folded:
        y = op.batch_norm_inference(y, gamma, beta, mean, variance, float(normalization.args[7]))
    y = op.add(y, residual) if residual is not None else y
    return relu(c, y) if find(c.node, "aten.relu.default") else y


def _attention(c: Context, q: Output, k: Output, v: Output, scale: Output = None, mask: Output = None) -> Output:
    softmax = find(c.node, "aten._softmax.default")
    assert softmax is not None
    *batch, rows, columns = softmax.outputs[0].spec.static_shape
    # Three dimensions in the graph; in the model those in which the mask broadcasts.
    q = op.reshape(q, integers([*batch, rows, -1]), False)
    k = op.reshape(op.transpose(k, integers([0, 2, 1])), integers([*batch, columns, -1]), False)
    v = op.reshape(v, integers([*batch, columns, -1]), False)
    scale = constant(1.0) if scale is None else scale
    scale = op.divide(constant(1.0), scale) if find(c.node, "aten.div.Tensor") else scale
    y = attend(c, q, k, v, constant(0.0) if mask is None else mask, scale)
    return op.reshape(y, integers(c.node.outputs[0].spec.static_shape), False)


COMPOSITES: dict[str, Callable[..., Any]] = {"conv": _conv, "attention": _attention}
