"""Matrix products by NumPy's BLAS: TVM's own loops are a hundred times slower unless somebody schedules them by hand.
16-bit floats arrive widened, so that they accumulate in float32."""

from __future__ import annotations

from typing import Any

import numpy as np
from lazycore_plugin_api import HostArray

from lazycore_tvm.lowerings.host_numbers import number
from lazycore_tvm.products import product
from lazycore_tvm.registry import BOOL, REAL, Kind, lowering

_PRODUCT: dict[str, Any] = {"kind": Kind.host, "dtypes": REAL - BOOL}

lowering("mm", "bmm", "mv", fills=True, **_PRODUCT)(product)
lowering("dot", **_PRODUCT)(np.dot)


def _blend(x: HostArray, own: HostArray, beta: Any, alpha: Any) -> HostArray:
    """beta * x + alpha * product; x is not even looked at where beta is 0, so that its NaNs do not count."""
    if alpha != 1:
        own = own * number(alpha, own)
    if beta == 0:
        return own
    result: HostArray = own + (x if beta == 1 else x * number(beta, x))
    return result


@lowering("addmm", "baddbmm", "addmv", **_PRODUCT)
def addmm(x: HostArray, first: HostArray, second: HostArray, *, beta: Any = 1, alpha: Any = 1) -> HostArray:
    """beta * x + alpha * (first @ second)."""
    return _blend(x, product(first, second), beta, alpha)


@lowering("addbmm", **_PRODUCT)
def addbmm(x: HostArray, first: HostArray, second: HostArray, *, beta: Any = 1, alpha: Any = 1) -> HostArray:
    """beta * x + alpha * the sum of a batch of products."""
    return _blend(x, np.sum(product(first, second), axis=0), beta, alpha)


@lowering("addr", **_PRODUCT)
def addr(x: HostArray, first: HostArray, second: HostArray, *, beta: Any = 1, alpha: Any = 1) -> HostArray:
    """beta * x + alpha * the outer product of two vectors."""
    return _blend(x, np.outer(first, second), beta, alpha)
