"""Padding by reflection and by replication, and its gradients."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np

from lazycore_xla.lowerings.operands import Array, transpose_of
from lazycore_xla.registry import FLOATING, NUMERIC, lowering

__all__: list[str] = []


def _reflected(places: Any, size: int) -> Any:
    """Mirrored at the first and at the last element, which are not repeated."""
    places = np.abs(places)
    return size - 1 - np.abs(size - 1 - places)


def _replicated(places: Any, size: int) -> Any:
    return np.clip(places, 0, size - 1)


def _padded(x: Array, padding: Sequence[int], inside: Callable[[Any, int], Any]) -> Array:
    """``padding`` has pairs of (before, after) from the last dimension forwards; a negative one crops."""
    for i, (before, after) in enumerate(zip(padding[::2], padding[1::2], strict=True)):
        axis = x.ndim - 1 - i
        size = x.shape[axis]
        places = inside(np.arange(-before, size + after), size)
        x = jnp.take(x, jnp.asarray(places), axis=axis)
    return x


def _forward(inside: Callable[[Any, int], Any]) -> Any:
    return lambda x, padding: _padded(x, padding, inside)


def _backward(inside: Callable[[Any, int], Any]) -> Any:
    return lambda gradient, x, padding: transpose_of(lambda v: _padded(v, padding, inside), x.shape, gradient)


for _name, _inside in {"reflection": _reflected, "replication": _replicated}.items():
    for _rank in (1, 2, 3):
        lowering(f"aten.{_name}_pad{_rank}d.default", dtypes=NUMERIC)(_forward(_inside))
        lowering(f"aten.{_name}_pad{_rank}d_backward.default", widen=True, dtypes=FLOATING)(_backward(_inside))
