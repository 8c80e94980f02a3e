"""Writing by index: scatter, index_put, index_add, put. On CPU XLA writes in order, so the last duplicate wins."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp

from lazycore_xla.lowerings.indexing import IN_BOUNDS, along, grid, one_dimensional
from lazycore_xla.lowerings.operands import Array, Scalar, as_dtype, quotient
from lazycore_xla.registry import ANY, NUMERIC, lowering

__all__: list[str] = []


_OF_TRUTH = {"add": "max", "multiply": "min"}
"""bool has neither to accumulate by; its sum saturates, which is the maximum."""


def _worked_in(at: Any, method: str, values: Array) -> Array:
    """The values added, multiplied or compared to what is there, by the update's name in jax."""
    name = _OF_TRUTH.get(method, method) if values.dtype == jnp.bool_ else method
    result: Array = getattr(at, name)(values, mode=IN_BOUNDS)
    return result


def _add(at: Any, values: Array) -> Array:
    return _worked_in(at, "add", values)


def _source(source: Scalar, index: Array, dtype: Any) -> Array:
    """The part of the source that the index covers, or a number at each of its places."""
    if not isinstance(source, jax.Array) or (source.ndim == 0 and index.ndim > 0):
        return jnp.broadcast_to(as_dtype(source, dtype), one_dimensional(index).shape)
    wide = one_dimensional(source)
    return wide[tuple(slice(0, n) for n in one_dimensional(index).shape)]


@lowering("aten.scatter.src", "aten.scatter.value", dtypes=ANY)
def _scatter(x: Array, dim: int, index: Array, source: Scalar) -> Array:
    if index.size == 0:
        return x
    target = one_dimensional(x).at[grid(dim, one_dimensional(index))]
    return target.set(_source(source, index, x.dtype), mode=IN_BOUNDS).reshape(x.shape)


@lowering("aten.scatter_add.default", dtypes=NUMERIC)
def _scatter_add(x: Array, dim: int, index: Array, source: Array) -> Array:
    if index.size == 0:
        return x
    target = one_dimensional(x).at[grid(dim, one_dimensional(index))]
    return _add(target, _source(source, index, x.dtype)).reshape(x.shape)


def _least(dtype: Any) -> Any:
    if dtype == jnp.bool_:
        return False
    return -jnp.inf if jnp.issubdtype(dtype, jnp.floating) else jnp.iinfo(dtype).min


def _largest(dtype: Any) -> Any:
    if dtype == jnp.bool_:
        return True
    return jnp.inf if jnp.issubdtype(dtype, jnp.floating) else jnp.iinfo(dtype).max


_REDUCE = {
    "sum": ("add", lambda _: 0),
    "mean": ("add", lambda _: 0),
    "prod": ("multiply", lambda _: 1),
    "amax": ("max", _least),
    "amin": ("min", _largest),
}
"""ATen's name -> the update's name in jax, and what changes nothing."""


@lowering("aten.scatter_reduce.two", widen=True)
def _scatter_reduce(
    x: Array, dim: int, index: Array, source: Array, reduce: str, *, include_self: bool = True
) -> Array:  # fmt: skip
    if index.size == 0:
        return x
    places = grid(dim, one_dimensional(index))
    return _combined(one_dimensional(x), places, _source(source, index, x.dtype), reduce, include_self).reshape(x.shape)


@lowering("aten.index_reduce.default", widen=True)
def _index_reduce(
    x: Array, dim: int, index: Array, source: Array, reduce: str, *, include_self: bool = True
) -> Array:  # fmt: skip
    if index.size == 0:
        return x
    flat = one_dimensional(x)
    places = along(flat, dim, index)
    return _combined(flat, places, one_dimensional(source), reduce, include_self).reshape(x.shape)


def _combined(x: Array, places: tuple[Any, ...], source: Array, reduce: str, include_self: bool) -> Array:
    """x with the source worked in. Where ``include_self`` is false, places that are written forget what they held."""
    method, neutral = _REDUCE[reduce]
    start = x if include_self else x.at[places].set(as_dtype(neutral(x.dtype), x.dtype), mode=IN_BOUNDS)
    result = _worked_in(start.at[places], method, source)
    return _divided(result, places, source, include_self) if reduce == "mean" else result


def _divided(total: Array, places: tuple[Any, ...], source: Array, include_self: bool) -> Array:
    """Totals over the number of their terms; integers round down."""
    ones = jnp.ones(source.shape, total.dtype)
    count = jnp.full(total.shape, int(include_self), total.dtype).at[places].add(ones, mode=IN_BOUNDS)
    count = jnp.maximum(count, as_dtype(1, count.dtype))
    return quotient(total, count) if jnp.issubdtype(total.dtype, jnp.floating) else total // count


@lowering("aten.scatter.reduce", "aten.scatter.value_reduce", widen=True)
def _scatter_by(x: Array, dim: int, index: Array, source: Scalar, *, reduce: str) -> Array:
    """The older form, whose reductions are ``add`` and ``multiply``."""
    if index.size == 0:
        return x
    target = one_dimensional(x).at[grid(dim, one_dimensional(index))]
    return _worked_in(target, reduce, _source(source, index, x.dtype)).reshape(x.shape)


@lowering("aten.index_put.default", dtypes=NUMERIC)
def _index_put(x: Array, indices: Sequence[Array | None], values: Array, accumulate: bool = False) -> Array:
    target = x.at[tuple(slice(None) if i is None else i for i in indices)]
    return _add(target, values) if accumulate else target.set(values, mode=IN_BOUNDS)


@lowering("aten.index_add.default", dtypes=NUMERIC)
def _index_add(x: Array, dim: int, index: Array, source: Array, *, alpha: Scalar) -> Array:
    flat = one_dimensional(x)
    scaled = one_dimensional(source * as_dtype(alpha, x.dtype))
    return _add(flat.at[along(flat, dim, index)], scaled).reshape(x.shape)


@lowering("aten.index_copy.default", dtypes=ANY)
def _index_copy(x: Array, dim: int, index: Array, source: Array) -> Array:
    flat = one_dimensional(x)
    return flat.at[along(flat, dim, index)].set(one_dimensional(source), mode=IN_BOUNDS).reshape(x.shape)


@lowering("aten.index_fill.int_Scalar", "aten.index_fill.int_Tensor", dtypes=ANY)
def _index_fill(x: Array, dim: int, index: Array, value: Scalar) -> Array:
    flat = one_dimensional(x)
    return flat.at[along(flat, dim, index)].set(as_dtype(value, x.dtype), mode=IN_BOUNDS).reshape(x.shape)


@lowering("aten.put.default", dtypes=NUMERIC)
def _put(x: Array, index: Array, source: Array, accumulate: bool = False) -> Array:
    target = x.reshape(-1).at[index.reshape(-1)]
    values = source.reshape(-1)
    return (_add(target, values) if accumulate else target.set(values, mode=IN_BOUNDS)).reshape(x.shape)
