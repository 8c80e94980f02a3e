"""The gamma function's logarithmic derivatives, and the Hurwitz zeta function that they are made of."""

from __future__ import annotations

import math
from typing import Any

import jax.numpy as jnp
from jax import lax

from lazycore_xla.lowerings.operands import Array, Out, as_dtype
from lazycore_xla.registry import lowering

__all__: list[str] = []

# B(2k) / (2k)!, the coefficients of the Euler-Maclaurin formula (NIST DLMF 25.11.43, 24.2).
_BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510, 43867 / 798, -174611 / 330)
_COEFFICIENTS = tuple(b / math.factorial(2 * k) for k, b in enumerate(_BERNOULLI, start=1))


def _zeta(s: Array, q: Array) -> Array:
    """The sum of (q + k) ** -s over k = 0, 1, …, in float64: terms up to q + k > 9, then Euler-Maclaurin.

    NaN for s < 1, infinite for s = 1 and at the poles; below 0 only whole s are defined.
    """
    steps = jnp.maximum(9, jnp.floor(9 - jnp.where(jnp.isfinite(q), q, 0)) + 1)

    def add(state: tuple[Any, Array]) -> tuple[Any, Array]:
        k, total = state
        return k + 1, total + jnp.where(k < steps, jnp.power(q + k, -s), 0)

    _, head = lax.while_loop(lambda state: state[0] < jnp.max(steps, initial=0), add, (0.0, jnp.zeros_like(q)))
    total = head + _tail(s, q + steps)
    pole = (q <= 0) & (q == jnp.floor(q))
    total = jnp.where((q < 0) & ~pole & (s != jnp.floor(s)), jnp.nan, jnp.where(pole, jnp.inf, total))
    return jnp.where(s > 1, total, jnp.where(s == 1, jnp.inf, jnp.nan))


def _tail(s: Array, w: Array) -> Array:
    """The sum of (w + k) ** -s for a large w."""
    power = jnp.power(w, -s)
    total = power * w / (s - 1) + power / 2
    factor = s * power / w
    for k, coefficient in enumerate(_COEFFICIENTS):
        total = total + coefficient * factor
        factor = factor * (s + 2 * k + 1) * (s + 2 * k + 2) / (w * w)
    return total


def _digamma(x: Array) -> Array:
    """Infinite at zero, with the opposite of its sign; not defined at the other poles."""
    return jnp.where(x == 0, jnp.copysign(jnp.inf, -x), lax.digamma(x))


def _trigamma(x: Array) -> Array:
    """In x's own dtype, by ATen's steps: near the poles its rounding of pi x is part of the result.

    Reflection below a half, six steps of the recurrence, then the asymptotic series.
    """
    low = x < 0.5
    sine = jnp.sin(as_dtype(math.pi, x.dtype) * x)
    reflected = as_dtype(math.pi**2, x.dtype) / (sine * sine)
    z = jnp.where(low, 1 - x, x)
    total = jnp.where(low, -reflected, 0)
    for _ in range(6):
        total = total + 1 / (z * z)
        z = z + 1
    inverse = 1 / (z * z)
    total = total + (1 + 1 / (2 * z) + inverse * (1 / 6 - inverse * (1 / 30 - inverse / 42))) / z
    return jnp.where(low, -total, total)


@lowering("aten.digamma.default", needs_out=True)
def _digamma_rounded(x: Array, *, out: Out) -> Array:
    return _digamma(x.astype(jnp.float64)).astype(out[0].dtype.numpy)


@lowering("aten.polygamma.default", widen=True, needs_out=True)
def _polygamma(order: int, x: Array, *, out: Out) -> Array:
    """The digamma function's derivative of this order."""
    dtype = out[0].dtype.numpy
    if order == 1:
        return _trigamma(x.astype(dtype))
    wide = x.astype(jnp.float64)
    if order == 0:
        return _digamma(wide).astype(dtype)
    sign = 1 if order % 2 else -1
    return (sign * math.factorial(order) * _zeta(jnp.full_like(wide, order + 1), wide)).astype(dtype)


@lowering("aten.special_zeta.default", needs_out=True)
def _hurwitz(s: Array, q: Array, *, out: Out) -> Array:
    s, q = jnp.broadcast_arrays(s.astype(jnp.float64), q.astype(jnp.float64))
    return _zeta(s, q).astype(out[0].dtype.numpy)
