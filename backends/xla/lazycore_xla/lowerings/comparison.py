"""Comparisons and logic on two tensors, or on a tensor and a number: results are bool."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp

from lazycore_xla.lowerings.operands import Array, Scalar, as_dtype
from lazycore_xla.registry import NUMERIC, REAL, register_all

__all__: list[str] = []

_ORDER: dict[str, Callable[[Any, Any], Array]] = {
    "lt": jnp.less,
    "le": jnp.less_equal,
    "gt": jnp.greater,
    "ge": jnp.greater_equal,
}
_EQUALITY: dict[str, Callable[[Any, Any], Array]] = {"eq": jnp.equal, "ne": jnp.not_equal}
_LOGIC = {
    "aten.logical_and.default": jnp.logical_and,
    "aten.logical_or.default": jnp.logical_or,
    "aten.logical_xor.default": jnp.logical_xor,
}


def _comparison(function: Callable[[Any, Any], Array]) -> Callable[[Array, Scalar], Array]:
    return lambda x, y: function(x, as_dtype(y, x.dtype))


def _rows(functions: dict[str, Callable[[Any, Any], Array]]) -> dict[str, Callable[[Array, Scalar], Array]]:
    return {f"aten.{n}.{kind}": _comparison(f) for n, f in functions.items() for kind in ("Tensor", "Scalar")}


register_all(_rows(_ORDER), dtypes=REAL)
register_all(_rows(_EQUALITY), dtypes=NUMERIC)
register_all(_LOGIC, dtypes=NUMERIC)
