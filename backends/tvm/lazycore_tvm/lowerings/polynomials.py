"""Orthogonal polynomials, by NumPy: each element has a degree of its own, so all run to the highest one, which only the
degrees tell.

A negative degree gives 0, as does one that is no number; a fractional one is cut off.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from lazycore_plugin_api import HostArray

from lazycore_tvm.registry import FLOATS, Kind, lowering

__all__: list[str] = []

Step = Callable[[HostArray, int, HostArray, HostArray], HostArray]


def _run(x: HostArray, degree: HostArray, first: Callable[[HostArray], HostArray], step: Step) -> HostArray:
    """The polynomial of each element's degree. ``step`` makes degree k + 1 of the degrees k and k - 1."""
    whole = np.trunc(np.where(np.isfinite(degree), degree, -1).astype(np.float64))
    x, degree = np.broadcast_arrays(x, whole)
    before, current = np.ones_like(x), first(x)
    result = np.where(degree == 0, before, np.where(degree == 1, current, 0))
    for k in range(1, int(np.max(degree, initial=0))):
        before, current = current, step(x, k, current, before)
        result = np.where(degree == k + 1, current, result)
    return np.asarray(result)


def _chebyshev(x: HostArray, _: int, current: HostArray, before: HostArray) -> HostArray:
    return np.asarray(2 * x * current - before)


def _hermite_h(x: HostArray, k: int, current: HostArray, before: HostArray) -> HostArray:
    return np.asarray(2 * x * current - 2 * k * before)


def _hermite_he(x: HostArray, k: int, current: HostArray, before: HostArray) -> HostArray:
    return np.asarray(x * current - k * before)


def _laguerre(x: HostArray, k: int, current: HostArray, before: HostArray) -> HostArray:
    return np.asarray(((2 * k + 1 - x) * current - k * before) / (k + 1))


def _legendre(x: HostArray, k: int, current: HostArray, before: HostArray) -> HostArray:
    return np.asarray(((2 * k + 1) * x * current - k * before) / (k + 1))


# Name -> degree 1 as a factor of x and what is added, and the recurrence.
_TABLE: dict[str, tuple[int, int, Step]] = {
    "chebyshev_polynomial_t": (1, 0, _chebyshev),
    "chebyshev_polynomial_u": (2, 0, _chebyshev),
    "chebyshev_polynomial_v": (2, -1, _chebyshev),
    "chebyshev_polynomial_w": (2, 1, _chebyshev),
    "hermite_polynomial_h": (2, 0, _hermite_h),
    "hermite_polynomial_he": (1, 0, _hermite_he),
    "laguerre_polynomial_l": (-1, 1, _laguerre),
    "legendre_polynomial_p": (1, 0, _legendre),
}


def _enter(name: str, scale: int, row: tuple[int, int, Step]) -> None:
    """The row of a polynomial of ``scale * x - (scale - 1)``: scale 2 shifts the interval from 0 to 1."""
    factor, offset, step = row

    @lowering(f"special_{name}", kind=Kind.host, dtypes=FLOATS)
    def polynomial(x: HostArray, degree: HostArray) -> HostArray:
        place = scale * x.astype(np.float64) - (scale - 1)
        return _run(place, degree, lambda x: factor * x + offset, step)


for _name, _row in _TABLE.items():
    _enter(_name, 1, _row)
    if _name.startswith("chebyshev"):
        _enter(f"shifted_{_name}", 2, _row)
