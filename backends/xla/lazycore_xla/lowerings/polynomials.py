"""Orthogonal polynomials: each element has a degree of its own, so all run to the highest one by their recurrence.

A negative degree gives 0, as does one that is no number; a fractional one is cut off.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
from jax import lax

from lazycore_xla.lowerings.operands import Array, Out
from lazycore_xla.registry import lowering

__all__: list[str] = []

Step = Callable[[Array, Any, Array, Array], Array]


def _run(x: Array, degree: Array, first: Callable[[Array], Array], step: Step) -> Array:
    """The polynomial of each element's degree, of operands in double precision. ``step`` makes degree k + 1 of the
    degrees k and k - 1."""
    x, degree = jnp.broadcast_arrays(x, jnp.trunc(jnp.where(jnp.isfinite(degree), degree, -1)))
    before, current = jnp.ones_like(x), first(x)
    start = jnp.where(degree == 0, before, jnp.where(degree == 1, current, 0))

    def rises(state: tuple[Any, ...]) -> Array:
        return state[0] < jnp.max(degree, initial=0)

    def rise(state: tuple[Any, ...]) -> tuple[Any, ...]:
        k, before, current, result = state
        following = step(x, k, current, before)
        return k + 1, current, following, jnp.where(degree == k + 1, following, result)

    return jnp.asarray(lax.while_loop(rises, rise, (jnp.float64(1), before, current, start))[-1])


def _chebyshev(x: Array, _: Any, current: Array, before: Array) -> Array:
    return 2 * x * current - before


def _hermite_h(x: Array, k: Any, current: Array, before: Array) -> Array:
    return 2 * x * current - 2 * k * before


def _hermite_he(x: Array, k: Any, current: Array, before: Array) -> Array:
    return x * current - k * before


def _laguerre(x: Array, k: Any, current: Array, before: Array) -> Array:
    return ((2 * k + 1 - x) * current - k * before) / (k + 1)


def _legendre(x: Array, k: Any, current: Array, before: Array) -> Array:
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


def _enter(name: str, scale: int, first: Callable[[Array], Array], step: Step) -> None:
    """The row of a polynomial of ``scale * x - (scale - 1)``: scale 2 shifts the interval from 0 to 1."""

    @lowering(f"aten.special_{name}.default", needs_out=True)
    def polynomial(x: Array, degree: Array, *, out: Out) -> Array:
        place = scale * x.astype(jnp.float64) - (scale - 1)
        return _run(place, degree.astype(jnp.float64), first, step).astype(out[0].dtype.numpy)


for _name, _row in _TABLE.items():
    _enter(_name, 1, *_row)
    if _name.startswith("chebyshev"):
        _enter(f"shifted_{_name}", 2, *_row)
