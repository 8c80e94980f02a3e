"""Matrix products. 16-bit floats arrive widened, so that they accumulate in float32."""

from __future__ import annotations

from typing import Any

import numpy as np

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
