"""How lowerings read their arguments: scalars, dimensions and output specs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from lazycore_plugin_api import TensorSpec

__all__ = [
    "Array", "Out", "Scalar", "as_dtype", "axes_of", "axis_of", "is_complex", "is_float", "quotient", "transpose_of",
]  # fmt: skip

Array: TypeAlias = jax.Array
Scalar: TypeAlias = bool | int | float | complex | jax.Array
Out: TypeAlias = tuple[TensorSpec, ...]


def as_dtype(scalar: Any, dtype: Any) -> Array:
    """A number or array in exactly this dtype: a bare number would let jax choose, and refuse one out of range."""
    if isinstance(scalar, jax.Array):
        return scalar.astype(dtype)
    with np.errstate(over="ignore", invalid="ignore"):
        return jnp.asarray(np.asarray(scalar).astype(dtype))


def axis_of(dim: int, rank: int) -> int:
    """A dimension counted from the front; 0 for a 0-d tensor's dim 0 or -1."""
    return dim % rank if rank else 0


def axes_of(dim: int | Sequence[int] | None, rank: int) -> tuple[int, ...]:
    """Dimensions to reduce, counted from the front. None and () mean all; a 0-d tensor has none."""
    if dim is None or dim == () or not rank:
        return tuple(range(rank))
    return tuple(d % rank for d in ((dim,) if isinstance(dim, int) else dim))


def is_float(x: Array) -> bool:
    """Whether the elements are real floating-point numbers."""
    return bool(jnp.issubdtype(x.dtype, jnp.floating))


def is_complex(x: Array) -> bool:
    """Whether the elements are complex numbers."""
    return bool(jnp.issubdtype(x.dtype, jnp.complexfloating))


def quotient(dividend: Array, divisor: Any) -> Array:
    """Each quotient rounded once. XLA multiplies by the reciprocal of what is broadcast, so that 49 / 49 is below 1 and
    infinity / 3e38 is NaN, unless it cannot see that."""
    above, below = jnp.broadcast_arrays(dividend, as_dtype(divisor, dividend.dtype))
    return above / lax.optimization_barrier(below)


def transpose_of(linear: Callable[[Array], Array], shape: Sequence[int], gradient: Array) -> Array:
    """The transpose of a linear function of a tensor of this shape, applied to the gradient of its result."""
    operand = jax.ShapeDtypeStruct(tuple(shape), gradient.dtype)
    (result,) = jax.linear_transpose(linear, operand)(gradient)
    return result
