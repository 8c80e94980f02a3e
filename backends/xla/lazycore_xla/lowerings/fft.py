"""Discrete Fourier transforms, one dimension after the other."""

from __future__ import annotations

import math
from collections.abc import Sequence

import jax.numpy as jnp
from jax import lax

from lazycore_xla.lowerings.operands import Array, Out, as_dtype
from lazycore_xla.registry import COMPLEX, FLOATING, lowering

__all__: list[str] = []

_DTYPES = COMPLEX | (FLOATING & {d for d in FLOATING if d.itemsize >= 4})
# ATen's numbers for how a transform is scaled: not, by 1 / sqrt(n), by 1 / n.
_POWER = {0: 0.0, 1: -0.5, 2: -1.0}


def _along(x: Array, axis: int, kind: lax.FftType, length: int) -> Array:
    """The unscaled transform of one dimension; lax offers only the last."""
    result = lax.fft(jnp.moveaxis(x, axis, -1), kind, (length,))
    inverse = kind in (lax.FftType.IFFT, lax.FftType.IRFFT)
    # lax divides the inverse ones by the length.
    return jnp.moveaxis(result * as_dtype(length, result.real.dtype) if inverse else result, -1, axis)


def _scaled(x: Array, lengths: Sequence[int], normalization: int) -> Array:
    power = _POWER[normalization]
    return x * as_dtype(math.prod(lengths) ** power, x.real.dtype) if power else x


@lowering("aten._fft_c2c.default", dtypes=_DTYPES)
def _complex_to_complex(x: Array, dims: Sequence[int], normalization: int, forward: bool) -> Array:
    lengths = [x.shape[d] for d in dims]
    for d, length in zip(dims, lengths, strict=True):
        x = _along(x, d, lax.FftType.FFT if forward else lax.FftType.IFFT, length)
    return _scaled(x, lengths, normalization)


@lowering("aten._fft_r2c.default", needs_out=True, dtypes=_DTYPES)
def _real_to_complex(x: Array, dims: Sequence[int], normalization: int, onesided: bool, *, out: Out) -> Array:
    """The last of the dims is halved where ``onesided``; the others see complex numbers."""
    if not onesided:
        return _complex_to_complex(x.astype(out[0].dtype.numpy), dims, normalization, True)
    lengths = [x.shape[d] for d in dims]
    x = _along(x, dims[-1], lax.FftType.RFFT, lengths[-1])
    for d, length in zip(dims[:-1], lengths[:-1], strict=True):
        x = _along(x, d, lax.FftType.FFT, length)
    return _scaled(x, lengths, normalization)


@lowering("aten._fft_c2r.default", dtypes=_DTYPES)
def _complex_to_real(x: Array, dims: Sequence[int], normalization: int, last_dim_size: int) -> Array:
    """The inverse of the onesided transform; ``last_dim_size`` is the result's size in the last of the dims."""
    lengths = [*(x.shape[d] for d in dims[:-1]), last_dim_size]
    for d, length in zip(dims[:-1], lengths[:-1], strict=True):
        x = _along(x, d, lax.FftType.IFFT, length)
    return _scaled(_along(x, dims[-1], lax.FftType.IRFFT, last_dim_size), lengths, normalization)
