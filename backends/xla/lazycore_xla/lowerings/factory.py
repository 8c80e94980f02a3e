"""Tensors from numbers alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from lazycore_xla.lowerings.operands import Array, Out, Scalar, as_dtype
from lazycore_xla.registry import ANY, NUMERIC, lowering

__all__: list[str] = []


@lowering("aten.full.default", needs_out=True, dtypes=ANY)
def _full(size: Sequence[int], fill: Scalar, *, dtype: Any = None, out: Out) -> Array:  # noqa: ARG001
    return jnp.broadcast_to(as_dtype(fill, out[0].dtype.numpy), out[0].static_shape)


@lowering("aten.fill.Scalar", "aten.fill.Tensor", dtypes=ANY)
def _fill(x: Array, value: Scalar) -> Array:
    return jnp.broadcast_to(as_dtype(value, x.dtype), x.shape)


@lowering("aten.scalar_tensor.default", needs_out=True, dtypes=ANY)
def _scalar_tensor(s: Scalar, *, dtype: Any = None, out: Out) -> Array:  # noqa: ARG001
    return as_dtype(s, out[0].dtype.numpy)


@lowering("aten.arange.start_step", needs_out=True, dtypes=ANY)
def _arange(start: Scalar, end: Scalar, step: Scalar = 1, *, dtype: Any = None, out: Out) -> Array:  # noqa: ARG001
    """start + i * step, computed in float64 or int64 and rounded once; whole results count from whole numbers."""
    spec = out[0]
    if spec.dtype.is_integral:
        start, step = _whole(start), _whole(step)
    wide = jnp.float64 if _is_inexact(start, step) or spec.dtype.is_floating else jnp.int64
    positions = lax.iota(wide, spec.static_shape[0])
    return (as_dtype(start, wide) + positions * as_dtype(step, wide)).astype(spec.dtype.numpy)


def _whole(number: Scalar) -> Scalar:
    return number.astype(jnp.int64) if isinstance(number, jax.Array) else int(number)


def _is_inexact(*numbers: Scalar) -> bool:
    return any(n.dtype.kind == "f" if isinstance(n, jax.Array) else isinstance(n, float) for n in numbers)


@lowering("aten.linspace.default", needs_out=True, dtypes=NUMERIC)
def _linspace(start: Scalar, end: Scalar, steps: int, *, dtype: Any = None, out: Out) -> Array:  # noqa: ARG001
    """The first half counts from the start, the second from the end, so that both ends are exact.

    As in ATen the ends are first rounded to the result's dtype, and only whole numbers are spaced in a wider one.
    """
    target = out[0].dtype.numpy
    first, last = as_dtype(start, target), as_dtype(end, target)
    if steps == 1:
        return first[None]
    wide = jnp.float64 if out[0].dtype.is_integral else target
    first, last = first.astype(wide), last.astype(wide)
    step = (last - first) / as_dtype(steps - 1, wide)
    position = lax.iota(jnp.int64, steps)
    backwards = last - step * (steps - 1 - position).astype(wide)
    return jnp.where(position < steps // 2, first + step * position.astype(wide), backwards).astype(target)


@lowering("aten.eye.default", "aten.eye.m", needs_out=True, dtypes=NUMERIC)
def _eye(n: int, m: int | None = None, *, dtype: Any = None, out: Out) -> Array:  # noqa: ARG001
    return jnp.eye(n, m, dtype=out[0].dtype.numpy)


def _triangle(where: Callable[..., tuple[Any, ...]]) -> Callable[..., Array]:
    def indices(row: int, col: int, offset: int = 0, *, dtype: Any = None, out: Out) -> Array:  # noqa: ARG001
        """Rows and columns of a triangle's elements, row by row."""
        return jnp.asarray(np.stack(where(row, offset, col)), out[0].dtype.numpy)

    return indices


lowering("aten.tril_indices.default", needs_out=True)(_triangle(np.tril_indices))
lowering("aten.triu_indices.default", needs_out=True)(_triangle(np.triu_indices))
