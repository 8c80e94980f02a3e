"""Ops that move elements or change how they are read, and casts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from lazycore_xla.lowerings.operands import Array, Out, Scalar, as_dtype, axis_of
from lazycore_xla.registry import ANY, NUMERIC, lowering

__all__: list[str] = []


@lowering(
    "aten.view.default",
    "aten._unsafe_view.default",
    "aten.reshape.default",
    "aten.squeeze.default",
    "aten.squeeze.dim",
    "aten.squeeze.dims",
    "aten.unsqueeze.default",
    needs_out=True,
    dtypes=ANY,
)
def _reshape(x: Array, *_: Any, out: Out) -> Array:
    return x.reshape(out[0].static_shape)


@lowering("aten.expand.default", needs_out=True, dtypes=ANY)
def _expand(x: Array, size: Sequence[int], *, implicit: bool = False, out: Out) -> Array:  # noqa: ARG001
    return jnp.broadcast_to(x, out[0].static_shape)


@lowering("aten.permute.default", dtypes=ANY)
def _permute(x: Array, dims: Sequence[int]) -> Array:
    return lax.transpose(x, [d % x.ndim for d in dims])


@lowering("aten.clone.default", "aten.alias.default", "aten.lift_fresh_copy.default", "aten.detach.default", dtypes=ANY)
def _same(x: Array) -> Array:
    """A buffer of its own at the segment's boundary is XLA's doing."""
    return x


@lowering("aten.cat.default", needs_out=True, dtypes=ANY)
def _cat(tensors: Sequence[Array], dim: int = 0, *, out: Out) -> Array:
    """A 1-d empty tensor may stand beside any other, as ATen has it, and adds nothing."""
    rank = len(out[0].shape)
    parts = [t for t in tensors if t.ndim == rank and t.shape != (0,)]
    if not parts:
        return jnp.zeros(out[0].static_shape, out[0].dtype.numpy)
    return lax.concatenate(parts, axis_of(dim, rank))


@lowering("aten.stack.default", dtypes=ANY)
def _stack(tensors: Sequence[Array], dim: int = 0) -> Array:
    return jnp.stack(tensors, dim)


@lowering("aten.flip.default", dtypes=ANY)
def _flip(x: Array, dims: Sequence[int]) -> Array:
    return lax.rev(x, [d % x.ndim for d in dims]) if x.ndim else x


@lowering("aten.roll.default", dtypes=ANY)
def _roll(x: Array, shifts: Sequence[int], dims: Sequence[int] = ()) -> Array:
    """Without dims the flattened tensor is rolled."""
    if not dims:
        return jnp.roll(x.reshape(-1), shifts[0]).reshape(x.shape)
    return jnp.roll(x, shifts, dims)


@lowering("aten.repeat.default", dtypes=ANY)
def _repeat(x: Array, repeats: Sequence[int]) -> Array:
    return jnp.tile(x, repeats)


@lowering("aten.constant_pad_nd.default", dtypes=ANY)
def _pad(x: Array, pad: Sequence[int], value: Scalar = 0) -> Array:
    """Pairs of (before, after) from the last dimension forwards; a negative one crops."""
    edges = [(before, after, 0) for before, after in zip(pad[::2], pad[1::2], strict=True)]
    return lax.pad(x, as_dtype(value, x.dtype), [(0, 0, 0)] * (x.ndim - len(edges)) + edges[::-1])


@lowering("aten.tril.default", dtypes=NUMERIC)
def _tril(x: Array, diagonal: int = 0) -> Array:
    return jnp.tril(x, diagonal)


@lowering("aten.triu.default", dtypes=NUMERIC)
def _triu(x: Array, diagonal: int = 0) -> Array:
    return jnp.triu(x, diagonal)


@lowering("aten._to_copy.default", needs_out=True, dtypes=ANY)
def _cast(x: Array, *, dtype: Any = None, out: Out) -> Array:  # noqa: ARG001
    return _converted(x, out[0].dtype.numpy)


def _converted(x: Array, dtype: Any) -> Array:
    """To bool: not zero. Truth as a float is hidden from XLA, which would make a choice of a product with it, and lose
    that 0 times infinity is NaN.

    float8_e4m3fn, which has no infinity, ends at its largest numbers, where XLA alone would give NaN.
    """
    if jnp.issubdtype(x.dtype, jnp.complexfloating) and not jnp.issubdtype(dtype, jnp.complexfloating):
        x = (x != 0) if dtype == jnp.bool_ else x.real
    if dtype == jnp.bool_:
        return x != as_dtype(0, x.dtype)
    if x.dtype == jnp.bool_ and jnp.issubdtype(dtype, jnp.inexact):
        return lax.optimization_barrier(x.astype(dtype))
    if jnp.issubdtype(x.dtype, jnp.floating) and jnp.issubdtype(dtype, jnp.integer):
        x = _whole(x, dtype)
    if dtype == jnp.float8_e4m3fn:
        largest = as_dtype(jnp.finfo(dtype).max, x.dtype)
        x = jnp.clip(x, -largest, largest)
    return x.astype(dtype)


def _whole(x: Array, dtype: Any) -> Array:
    """The whole part as an integer of at least the dtype's size. What does not fit, NaN too, becomes the least integer,
    as it does where the CPU converts; what fits wraps when it is narrowed. XLA alone would clamp."""
    if dtype == jnp.uint64:
        return x
    wide = jnp.int64 if dtype.itemsize == 8 or dtype == jnp.uint32 else jnp.int32
    limit = 2.0 ** (8 * np.dtype(wide).itemsize - 1)
    x = x if x.dtype == jnp.float64 else x.astype(jnp.float32)
    return jnp.where((x >= -limit) & (x < limit), x.astype(wide), jnp.iinfo(wide).min)


@lowering("aten.view.dtype", needs_out=True, dtypes=ANY)
def _bitcast(x: Array, dtype: Any, *, out: Out) -> Array:
    """The same bytes read as another dtype; the last dimension shrinks or grows where the sizes differ."""
    size, shape = dtype.itemsize, out[0].static_shape
    if x.dtype == dtype:
        return x
    source = _as_bits(x)
    target = jnp.dtype(_UNSIGNED[size]) if dtype == jnp.bool_ or jnp.issubdtype(dtype, jnp.complexfloating) else dtype
    if jnp.issubdtype(dtype, jnp.complexfloating):
        return _complex_from_bits(source, dtype).reshape(shape)
    if source.dtype.itemsize < size:
        source = source.reshape(*shape, size // source.dtype.itemsize)
    cast = lax.bitcast_convert_type(source, target).reshape(shape)
    return cast != 0 if dtype == jnp.bool_ else cast


_UNSIGNED = {1: "uint8", 2: "uint16", 4: "uint32", 8: "uint64", 16: "uint64"}


def _as_bits(x: Array) -> Array:
    """XLA's bitcast takes neither bool nor complex."""
    if x.dtype == jnp.bool_:
        return x.astype(jnp.uint8)
    if jnp.issubdtype(x.dtype, jnp.complexfloating):
        pairs = jnp.stack((x.real, x.imag), -1)
        return pairs.reshape(*x.shape[:-1], 2 * x.shape[-1]) if x.ndim else pairs
    return x


def _complex_from_bits(bits: Array, dtype: Any) -> Array:
    part = jnp.dtype("float32" if dtype == jnp.complex64 else "float64")
    if bits.dtype.itemsize < part.itemsize:
        count = part.itemsize // bits.dtype.itemsize
        bits = bits.reshape(*bits.shape[:-1], bits.shape[-1] // count, count)
    parts = lax.bitcast_convert_type(bits, part).reshape(-1, 2)
    return lax.complex(parts[:, 0], parts[:, 1])
