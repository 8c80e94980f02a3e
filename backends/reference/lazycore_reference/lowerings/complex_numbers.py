"""Complex numbers out of real ones, and their parts."""

from __future__ import annotations

import numpy as np

from lazycore_reference.registry import Array, lowering


@lowering("aten.complex.default")
def combined(real: Array, imaginary: Array) -> Array:
    """real + i imaginary; not by arithmetic, which would make NaN of an infinite part times i."""
    shape = np.broadcast_shapes(real.shape, imaginary.shape)
    result = np.empty(shape, np.result_type(real.dtype, np.complex64))
    result.real, result.imag = real, imaginary
    return result


@lowering("aten.polar.default")
def polar(size: Array, phase: Array) -> Array:
    """size * (cos(phase) + i sin(phase))."""
    return combined(size * np.cos(phase), size * np.sin(phase))


@lowering("aten.conj_physical.default", "aten._conj_physical.default")
def conjugate(x: Array) -> Array:
    """The imaginary part negated."""
    return np.conjugate(x)


@lowering("aten.angle.default")
def angle(x: Array) -> Array:
    """The phase; of a real number 0 or pi, and NaN stays."""
    if x.dtype.kind == "c":
        return np.angle(x)
    real = x if x.dtype.kind == "f" else x.astype(np.float32)
    return np.where(np.isnan(real), real, np.where(real < 0, np.pi, 0.0))
