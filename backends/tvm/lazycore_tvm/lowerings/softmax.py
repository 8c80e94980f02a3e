"""Softmax and its gradients."""

# Signatures are ATen's, also where an argument does not matter here.
# ruff: noqa: ARG001

from __future__ import annotations

from typing import Any

from lazycore_plugin_api import TensorSpec

from lazycore_tvm.arrays import Array, elementwise, staged, widened
from lazycore_tvm.lowerings.reduction import finished
from lazycore_tvm.operands import all_axes
from lazycore_tvm.reductions import extreme, total
from lazycore_tvm.registry import FLOATS, Kind, lowering
from lazycore_tvm.scalars import call, sub


def _shifted(x: Array, axes: tuple[int, ...]) -> Array:
    wide = widened(x)
    return elementwise(sub, wide, extreme(wide, axes, True), dtype=wide.dtype)


@lowering("_softmax", kind=Kind.kernel, dtypes=FLOATS, needs_out=True, rereads=True)
def softmax(x: Array, dim: int, to_float: bool, *, out: list[TensorSpec]) -> Array:
    """exp(x) over its sum along a dimension."""
    axes = all_axes(dim, x.ndim)
    shifted = _shifted(x, axes)
    powers = staged(elementwise(lambda v: call("exp", v), shifted, dtype=shifted.dtype))
    return finished(elementwise(lambda v, s: v / s, powers, total(powers, axes), dtype=shifted.dtype), out[0])


@lowering("_log_softmax", kind=Kind.kernel, dtypes=FLOATS, needs_out=True, rereads=True)
def log_softmax(x: Array, dim: int, to_float: bool, *, out: list[TensorSpec]) -> Array:
    """x less the logarithm of the sum of its exponentials along a dimension."""
    axes = all_axes(dim, x.ndim)
    shifted = _shifted(x, axes)
    sums = total(elementwise(lambda v: call("exp", v), shifted, dtype=shifted.dtype), axes)
    logarithms = staged(elementwise(lambda v: call("log", v), sums, dtype=shifted.dtype))
    return finished(elementwise(sub, shifted, logarithms, dtype=shifted.dtype), out[0])


@lowering("_softmax_backward_data", kind=Kind.kernel, dtypes=FLOATS, needs_out=True, rereads=True)
def softmax_backward(grad: Array, y: Array, dim: int, dtype: Any, *, out: list[TensorSpec]) -> Array:
    """y * (grad - sum(grad * y))."""
    g, wide, axes = widened(grad), widened(y), all_axes(dim, y.ndim)
    product = elementwise(lambda a, b: a * b, g, wide, dtype=wide.dtype)
    blend = lambda p, v, s: sub(p, v * s)  # noqa: E731
    return finished(elementwise(blend, product, wide, total(product, axes), dtype=wide.dtype), out[0])


@lowering("_log_softmax_backward_data", kind=Kind.kernel, dtypes=FLOATS, needs_out=True, rereads=True)
def log_softmax_backward(grad: Array, y: Array, dim: int, dtype: Any, *, out: list[TensorSpec]) -> Array:
    """grad - exp(y) * sum(grad)."""
    g, wide, axes = widened(grad), widened(y), all_axes(dim, y.ndim)
    blend = lambda a, v, s: sub(a, call("exp", v) * s)  # noqa: E731
    return finished(elementwise(blend, g, wide, total(g, axes), dtype=wide.dtype), out[0])
