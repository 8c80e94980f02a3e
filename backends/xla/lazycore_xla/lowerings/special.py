"""Special functions. XLA's series in single precision lose digits near zeros, so that most compute in double."""

from __future__ import annotations

import math
from collections.abc import Callable

import jax
import jax.numpy as jnp
from jax import lax

from lazycore_xla.lowerings.operands import Array, Out
from lazycore_xla.registry import REAL, lowering

__all__: list[str] = []

Function = Callable[..., Array]


def _in_double(function: Function) -> Function:
    """The function of float64 operands, rounded once to the result's dtype."""

    def rounded(*operands: Array, out: Out) -> Array:
        wide = jnp.broadcast_arrays(*(x.astype(jnp.float64) for x in operands))
        return function(*wide).astype(out[0].dtype.numpy)

    return rounded


def _log_ndtr(x: Array) -> Array:
    """The logarithm of the normal distribution's mass below x, by the tail that is small."""
    scaled = x * math.sqrt(0.5)
    low = jnp.log(jax.scipy.special.erfcx(-scaled) / 2) - scaled * scaled
    return jnp.where(x < -1, low, jnp.log1p(-lax.erfc(scaled) / 2))


_ONE: dict[str, Function] = {
    "aten.i0.default": lambda x: jnp.exp(jnp.abs(x)) * lax.bessel_i0e(x),
    "aten.special_i0e.default": lax.bessel_i0e,
    "aten.special_i1.default": lambda x: jnp.exp(jnp.abs(x)) * lax.bessel_i1e(x),
    "aten.special_i1e.default": lax.bessel_i1e,
    "aten.lgamma.default": lax.lgamma,
    "aten.erfinv.default": lax.erf_inv,
    "aten.special_erfcx.default": jax.scipy.special.erfcx,
    "aten.special_ndtri.default": jax.scipy.special.ndtri,
    "aten.special_log_ndtr.default": _log_ndtr,
}
_TWO: dict[str, Function] = {
    "aten.igamma.default": lax.igamma,
    "aten.igammac.default": lax.igammac,
}

for _op, _function in (*_ONE.items(), *_TWO.items()):
    lowering(_op, needs_out=True, dtypes=REAL)(_in_double(_function))


@lowering("aten.special_spherical_bessel_j0.default", needs_out=True)
def _spherical_bessel_j0(x: Array, *, out: Out) -> Array:
    wide = x.astype(jnp.float64)
    safe = jnp.where(wide == 0, 1, wide)
    value = jnp.where(wide == 0, 1, jnp.sin(safe) / safe)
    return jnp.where(jnp.isinf(wide), 0, value).astype(out[0].dtype.numpy)
