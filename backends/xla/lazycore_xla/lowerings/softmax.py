"""Softmax and log-softmax over one dimension, with gradients from the saved results."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

from lazycore_xla.lowerings.operands import Array, Out, axis_of
from lazycore_xla.registry import FLOATING, lowering

__all__: list[str] = []


def _shifted(x: Array, dim: int) -> tuple[Array, int | None]:
    """x minus its largest along the dimension, which a 0-d tensor has not."""
    axis = axis_of(dim, x.ndim) if x.ndim else None
    return x - jnp.max(x, axis=axis, keepdims=True, initial=-jnp.inf), axis


@lowering("aten._softmax.default", widen=True, needs_out=True, dtypes=FLOATING)
def _softmax(x: Array, dim: int, half_to_float: bool, *, out: Out) -> Array:  # noqa: ARG001
    shifted, axis = _shifted(x, dim)
    weights = jnp.exp(shifted)
    return (weights / jnp.sum(weights, axis=axis, keepdims=True)).astype(out[0].dtype.numpy)


@lowering("aten._log_softmax.default", widen=True, needs_out=True, dtypes=FLOATING)
def _log_softmax(x: Array, dim: int, half_to_float: bool, *, out: Out) -> Array:  # noqa: ARG001
    shifted, axis = _shifted(x, dim)
    total = jnp.sum(jnp.exp(shifted), axis=axis, keepdims=True)
    return (shifted - jnp.log(total)).astype(out[0].dtype.numpy)


def _total(x: Array, dim: int) -> Array:
    return jnp.sum(x, axis=axis_of(dim, x.ndim) if x.ndim else None, keepdims=True)


@lowering("aten._softmax_backward_data.default", widen=True, needs_out=True, dtypes=FLOATING)
def _softmax_backward(gradient: Array, y: Array, dim: int, input_dtype: Any, *, out: Out) -> Array:  # noqa: ARG001
    product = gradient * y
    return (product - y * _total(product, dim)).astype(out[0].dtype.numpy)


@lowering("aten._log_softmax_backward_data.default", widen=True, needs_out=True, dtypes=FLOATING)
def _log_softmax_backward(gradient: Array, y: Array, dim: int, input_dtype: Any, *, out: Out) -> Array:  # noqa: ARG001
    return (gradient - jnp.exp(y) * _total(gradient, dim)).astype(out[0].dtype.numpy)
