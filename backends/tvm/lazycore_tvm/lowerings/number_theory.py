"""Divisors, multiples, and the parts and neighbours of floating-point numbers, by NumPy."""

from __future__ import annotations

import numpy as np
from lazycore_plugin_api import DType, HostArray

from lazycore_tvm.registry import FLOATS, INTS, Kind, lowering

__all__: list[str] = []


@lowering("gcd", kind=Kind.host, dtypes=INTS)
def greatest_divisor(x: HostArray, other: HostArray) -> HostArray:
    """The greatest common divisor."""
    return np.asarray(np.gcd(x, other))


@lowering("lcm", kind=Kind.host, dtypes=INTS)
def least_multiple(x: HostArray, other: HostArray) -> HostArray:
    """The least common multiple."""
    return np.asarray(np.lcm(x, other))


@lowering("nextafter", kind=Kind.host, dtypes=FLOATS, raw=True)
def next_after(x: HostArray, towards: HostArray) -> HostArray:
    """The next representable number."""
    return np.asarray(np.nextafter(x, towards))


@lowering("frexp.Tensor", kind=Kind.host, dtypes=FLOATS | {DType.int32})
def mantissa_and_exponent(x: HostArray) -> tuple[HostArray, HostArray]:
    """x as a mantissa in [0.5, 1) and a power of two."""
    mantissa, exponent = np.frexp(x)
    return mantissa, np.where(np.isfinite(x), exponent, 0)
