"""Variance and standard deviation."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import jax.numpy as jnp
from lazycore_plugin_api import Node, Value

from lazycore_xla.lowerings.operands import Array, axes_of, is_complex, quotient
from lazycore_xla.registry import INEXACT, lowering

__all__: list[str] = []

Dims = Sequence[int] | None


def _fixed_correction(node: Node) -> str | None:
    return "the correction must be a number" if isinstance(node.kwargs.get("correction"), Value) else None


def _var_mean(x: Array, dim: Dims, correction: float | None, keepdim: bool) -> tuple[Array, Array]:
    """Sum of squared distances, real even of complex numbers, over max(0, n - correction): infinite or NaN where
    that is 0."""
    axes = axes_of(dim, x.ndim)
    count = prod(x.shape[a] for a in axes)
    mean = quotient(jnp.sum(x, axis=axes, keepdims=True), count)
    distances = x - mean
    degrees = max(0.0, count - (1 if correction is None else correction))
    squares = (distances * distances.conj()).real if is_complex(x) else distances * distances
    total = jnp.sum(squares, axis=axes, keepdims=keepdim)
    return quotient(total, degrees), mean if keepdim else jnp.squeeze(mean, axes)


@lowering("aten.var_mean.correction", widen=True, dtypes=INEXACT, check=_fixed_correction)
def _variance_and_mean(
    x: Array, dim: Dims = None, *, correction: float | None, keepdim: bool = False
) -> tuple[Array, Array]:
    return _var_mean(x, dim, correction, keepdim)


@lowering("aten.var.correction", widen=True, dtypes=INEXACT, check=_fixed_correction)
def _variance(x: Array, dim: Dims = None, *, correction: float | None, keepdim: bool = False) -> Array:
    return _var_mean(x, dim, correction, keepdim)[0]


@lowering("aten.std.correction", widen=True, dtypes=INEXACT, check=_fixed_correction)
def _deviation(x: Array, dim: Dims = None, *, correction: float | None, keepdim: bool = False) -> Array:
    return jnp.sqrt(_var_mean(x, dim, correction, keepdim)[0])
