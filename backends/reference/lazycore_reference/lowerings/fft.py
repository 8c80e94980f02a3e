"""Discrete Fourier transforms. NumPy scales inverse transforms by 1 / n; ATen scales as it is told."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from lazycore_reference.registry import Array, lowering

_BY_ROOT, _BY_SIZE = 1, 2


def _scaled(x: Array, normalization: int, size: int) -> Array:
    """Scaled by ATen's normalization modes: 0 not at all, 1 by the root of the size, 2 by the size."""
    if normalization == _BY_ROOT:
        return x / math.sqrt(size)
    return x / size if normalization == _BY_SIZE else x


def _plain(x: Array, dims: Sequence[int], forward: bool) -> Array:
    if not x.size:
        return x
    return np.fft.fftn(x, axes=dims) if forward else np.fft.ifftn(x, axes=dims, norm="forward")


def _size(x: Array, dims: Sequence[int]) -> int:
    return math.prod(x.shape[d] for d in dims)


@lowering("aten._fft_c2c.default")
def complex_to_complex(x: Array, dims: Sequence[int], normalization: int, forward: bool) -> Array:
    """Complex transform along the dimensions."""
    return _scaled(_plain(x, dims, forward), normalization, _size(x, dims))


@lowering("aten._fft_r2c.default")
def real_to_complex(x: Array, dims: Sequence[int], normalization: int, onesided: bool) -> Array:
    """Transform of real numbers; ``onesided`` leaves out the half of the last dimension that is redundant."""
    result = np.fft.rfftn(x, axes=dims) if onesided else np.fft.fftn(x, axes=dims)
    return _scaled(result, normalization, _size(x, dims))


@lowering("aten._fft_c2r.default")
def complex_to_real(x: Array, dims: Sequence[int], normalization: int, last: int) -> Array:
    """The inverse of a onesided transform; ``last``: size of the result's last dimension."""
    x = _plain(x, dims[:-1], False) if len(dims) > 1 else x
    result = np.fft.irfft(x, last, axis=dims[-1], norm="forward")
    return _scaled(result, normalization, _size(result, dims))
