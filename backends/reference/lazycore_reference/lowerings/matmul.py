"""Matrix products. 16-bit floats arrive widened, so that they accumulate in float32."""

from __future__ import annotations

from typing import Any

import numpy as np
from lazycore_plugin_api import Node

from lazycore_reference.lowerings.binary import number
from lazycore_reference.registry import Array, lowering

lowering("aten.mm.default", "aten.bmm.default", "aten.mv.default")(np.matmul)
lowering("aten.dot.default")(np.dot)


def _blend(x: Array, product: Array, beta: Any, alpha: Any) -> Array:
    """beta * x + alpha * product; x is not even looked at where beta is 0, so that its NaNs do not count."""
    if alpha != 1:
        product = product * number(alpha, product)
    if beta == 0:
        return product
    return product + (x if beta == 1 else x * number(beta, x))


@lowering("aten.addmm.default", "aten.baddbmm.default", "aten.addmv.default")
def addmm(x: Array, first: Array, second: Array, *, beta: Any = 1, alpha: Any = 1) -> Array:
    """beta * x + alpha * (first @ second)."""
    return _blend(x, np.matmul(first, second), beta, alpha)


@lowering("aten.addbmm.default")
def addbmm(x: Array, first: Array, second: Array, *, beta: Any = 1, alpha: Any = 1) -> Array:
    """beta * x + alpha * the sum of a batch of products."""
    return _blend(x, np.sum(np.matmul(first, second), axis=0), beta, alpha)


@lowering("aten.addr.default")
def addr(x: Array, first: Array, second: Array, *, beta: Any = 1, alpha: Any = 1) -> Array:
    """beta * x + alpha * the outer product of two vectors."""
    return _blend(x, np.outer(first, second), beta, alpha)


def _no_bias(node: Node) -> str | None:
    return "a bias" if len(node.args) > 3 and node.args[3] is not None else None


@lowering("aten._grouped_mm.default", objection=_no_bias)
def grouped_mm(first: Array, second: Array, ends: Array | None = None, *_bias_and_dtype: Any) -> Array:
    """Products of groups: whichever operand is not a batch is cut at ``ends``, along the first's rows, the second's
    columns, or, where both are matrices, the dimension between. What lies behind the last end is 0."""
    if ends is None:
        return np.matmul(first, second)
    if first.ndim == 2 and second.ndim == 2:
        result = np.zeros((len(ends), first.shape[0], second.shape[1]), first.dtype)
    else:
        result = np.zeros((first.shape[-2], second.shape[-1]), first.dtype)
    for group, (start, end) in enumerate(zip((0, *ends[:-1]), ends, strict=True)):
        part = slice(start, end)
        if first.ndim == 3:
            result[:, part] = first[group] @ second[:, part]
        elif second.ndim == 3:
            result[part] = first[part] @ second[group]
        else:
            result[group] = first[:, part] @ second[part]
    return result
