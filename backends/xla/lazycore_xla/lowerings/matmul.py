"""Matrix products. Half types arrive widened, so that they accumulate in float32 and round once."""

from __future__ import annotations

from collections.abc import Sequence

import jax
import jax.numpy as jnp
from jax import lax

from lazycore_xla.lowerings.operands import Array, Scalar, as_dtype
from lazycore_xla.registry import NUMERIC, lowering

__all__: list[str] = []


def _product(a: Array, b: Array, contract: tuple[int, int], batch: int = 0) -> Array:
    axes = tuple(range(batch))
    dimensions = (((contract[0],), (contract[1],)), (axes, axes))
    return lax.dot_general(a, b, dimensions, precision=lax.Precision.HIGHEST, preferred_element_type=a.dtype)


@lowering("aten.mm.default", widen=True, dtypes=NUMERIC)
def _mm(a: Array, b: Array) -> Array:
    return _product(a, b, (1, 0))


@lowering("aten.bmm.default", widen=True, dtypes=NUMERIC)
def _bmm(a: Array, b: Array) -> Array:
    return _product(a, b, (2, 1), batch=1)


@lowering("aten.mv.default", widen=True, dtypes=NUMERIC)
def _mv(a: Array, v: Array) -> Array:
    return _product(a, v, (1, 0))


@lowering("aten.dot.default", widen=True, dtypes=NUMERIC)
def _dot(u: Array, v: Array) -> Array:
    return _product(u, v, (0, 0))


@lowering("aten.vdot.default", widen=True, dtypes=NUMERIC)
def _vdot(u: Array, v: Array) -> Array:
    """The first operand conjugated."""
    return _product(u.conj(), v, (0, 0))


def _blend(bias: Array, product: Array, beta: Scalar, alpha: Scalar) -> Array:
    """beta * bias + alpha * product; with beta 0 the bias is not read, so that its NaN does not count."""
    scaled = product if _is_one(alpha) else product * as_dtype(alpha, product.dtype)
    if isinstance(beta, jax.Array):
        return scaled + jnp.where(beta == 0, jnp.zeros_like(bias), bias * as_dtype(beta, bias.dtype))
    if beta == 0:
        return scaled
    return scaled + (bias if _is_one(beta) else bias * as_dtype(beta, bias.dtype))


def _is_one(factor: Scalar) -> bool:
    return not isinstance(factor, jax.Array) and factor == 1


@lowering("aten.addmm.default", widen=True, dtypes=NUMERIC)
def _addmm(bias: Array, a: Array, b: Array, *, beta: Scalar, alpha: Scalar) -> Array:
    return _blend(bias, _mm(a, b), beta, alpha)


@lowering("aten.baddbmm.default", widen=True, dtypes=NUMERIC)
def _baddbmm(bias: Array, a: Array, b: Array, *, beta: Scalar, alpha: Scalar) -> Array:
    return _blend(bias, _bmm(a, b), beta, alpha)


@lowering("aten.addbmm.default", widen=True, dtypes=NUMERIC)
def _addbmm(bias: Array, a: Array, b: Array, *, beta: Scalar, alpha: Scalar) -> Array:
    return _blend(bias, jnp.sum(_bmm(a, b), axis=0, dtype=a.dtype), beta, alpha)


@lowering("aten.addmv.default", widen=True, dtypes=NUMERIC)
def _addmv(bias: Array, a: Array, v: Array, *, beta: Scalar, alpha: Scalar) -> Array:
    return _blend(bias, _mv(a, v), beta, alpha)


@lowering("aten.addr.default", widen=True, dtypes=NUMERIC)
def _addr(bias: Array, u: Array, v: Array, *, beta: Scalar, alpha: Scalar) -> Array:
    return _blend(bias, u[:, None] * v[None, :], beta, alpha)


@lowering("aten._trilinear.default", widen=True, dtypes=NUMERIC)
def _trilinear(
    first: Array,
    second: Array,
    third: Array,
    expand1: Sequence[int],
    expand2: Sequence[int],
    expand3: Sequence[int],
    sum_dims: Sequence[int],
    unroll_dim: int,
) -> Array:
    """The sum, over some dimensions, of the product of three tensors, each with new dimensions inserted."""
    del unroll_dim  # a hint
    factors = ((first, expand1), (second, expand2), (third, expand3))
    a, b, c = (jnp.expand_dims(x, tuple(dims)) for x, dims in factors)
    return jnp.sum(a * b * c, axis=tuple(sum_dims), dtype=a.dtype)
