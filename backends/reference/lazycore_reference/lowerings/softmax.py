"""Softmax and its gradients."""

# Signatures are ATen's, also where an argument does not matter here.
# ruff: noqa: ARG001
# To mypy, arithmetic on arrays of any dtype is Any.
# mypy: disable-error-code="no-any-return"

from __future__ import annotations

from typing import Any

import numpy as np

from lazycore_reference.axes import all_axes
from lazycore_reference.registry import Array, lowering


def _shifted(x: Array, axes: tuple[int, ...]) -> Array:
    return x - np.max(x, axis=axes, keepdims=True) if x.size else x


@lowering("aten._softmax.default")
def softmax(x: Array, dim: int, to_float: bool) -> Array:
    """exp(x) over its sum along a dimension."""
    axes = all_axes(dim, x.ndim)
    exponentials = np.exp(_shifted(x, axes))
    return exponentials / np.sum(exponentials, axis=axes, keepdims=True)


@lowering("aten._log_softmax.default")
def log_softmax(x: Array, dim: int, to_float: bool) -> Array:
    """x less the logarithm of the sum of its exponentials along a dimension."""
    axes = all_axes(dim, x.ndim)
    shifted = _shifted(x, axes)
    return shifted - np.log(np.sum(np.exp(shifted), axis=axes, keepdims=True))


@lowering("aten._softmax_backward_data.default")
def softmax_backward(grad: Array, y: Array, dim: int, dtype: Any) -> Array:
    """y * (grad - sum(grad * y))."""
    product = grad * y
    return product - y * np.sum(product, axis=all_axes(dim, y.ndim), keepdims=True)


@lowering("aten._log_softmax_backward_data.default")
def log_softmax_backward(grad: Array, y: Array, dim: int, dtype: Any) -> Array:
    """grad - exp(y) * sum(grad)."""
    return grad - np.exp(y) * np.sum(grad, axis=all_axes(dim, y.ndim), keepdims=True)
