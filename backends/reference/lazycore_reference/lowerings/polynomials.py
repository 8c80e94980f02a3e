"""Orthogonal polynomials: each element has a degree of its own, so all run to the highest one by their recurrence.

A negative degree gives 0, as does one that is no number; a fractional one is cut off.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from lazycore_reference.registry import Array, lowering

Step = Callable[[Array, int, Array, Array], Array]


def _run(x: Array, degree: Array, first: Callable[[Array], Array], step: Step) -> Array:
    """The polynomial of each element's degree. ``step`` makes degree k + 1 of degrees k and k - 1."""
    whole = np.trunc(np.where(np.isfinite(degree), degree, -1).astype(np.float64))
    x, degree = np.broadcast_arrays(x.astype(np.float64), whole)
    before, current = np.ones_like(x), first(x)
    result = np.where(degree == 0, before, np.where(degree == 1, current, 0))
    for k in range(1, int(np.max(degree, initial=0))):
        before, current = current, step(x, k, current, before)
        result = np.where(degree == k + 1, current, result)
    return np.asarray(result)


def _chebyshev(x: Array, _: int, current: Array, before: Array) -> Array:
    return 2 * x * current - before


def _hermite_h(x: Array, k: int, current: Array, before: Array) -> Array:
    return 2 * x * current - 2 * k * before


def _hermite_he(x: Array, k: int, current: Array, before: Array) -> Array:
    return x * current - k * before


def _laguerre(x: Array, k: int, current: Array, before: Array) -> Array:
    return ((2 * k + 1 - x) * current - k * before) / (k + 1)


def _legendre(x: Array, k: int, current: Array, before: Array) -> Array:
    return ((2 * k + 1) * x * current - k * before) / (k + 1)


# Name -> degree 1, and the recurrence.
_TABLE: dict[str, tuple[Callable[[Array], Array], Step]] = {
    "chebyshev_polynomial_t": (lambda x: x, _chebyshev),
    "chebyshev_polynomial_u": (lambda x: 2 * x, _chebyshev),
    "chebyshev_polynomial_v": (lambda x: 2 * x - 1, _chebyshev),
    "chebyshev_polynomial_w": (lambda x: 2 * x + 1, _chebyshev),
    "hermite_polynomial_h": (lambda x: 2 * x, _hermite_h),
    "hermite_polynomial_he": (lambda x: x, _hermite_he),
    "laguerre_polynomial_l": (lambda x: 1 - x, _laguerre),
    "legendre_polynomial_p": (lambda x: x, _legendre),
}


def _enter(name: str, first: Callable[[Array], Array], step: Step) -> None:
    @lowering(f"aten.special_{name}.default")
    def polynomial(x: Array, degree: Array) -> Array:
        return _run(x, degree, first, step)

    if name.startswith("chebyshev"):

        @lowering(f"aten.special_shifted_{name}.default")
        def shifted(x: Array, degree: Array) -> Array:
            return _run(2 * x.astype(np.float64) - 1, degree, first, step)


for _name, _row in _TABLE.items():
    _enter(_name, *_row)

__all__: list[Any] = []
