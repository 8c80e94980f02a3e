"""The arrays of a segment's values while jax traces it, images with their channels second or last."""

from __future__ import annotations

from collections.abc import Iterable

import jax
import jax.numpy as jnp
from lazycore_plugin_api import Node, Value

from lazycore_xla.registry import CHANNELS_LAST, ChannelsLast

__all__ = ["IMAGE", "Values"]

IMAGE = 4
"""The rank of a batch of images: (batch, channels, height, width)."""


class Values:
    """Arrays by value. An image is kept in the order of dimensions in which it was computed, and in the other one as
    well once that has been asked for, so that between two convolutions nothing is transposed."""

    def __init__(self, arrays: Iterable[tuple[Value, jax.Array]]) -> None:
        self._plain = {value.id: array for value, array in arrays}
        self._last: dict[int, jax.Array] = {}

    def plain(self, value: Value) -> jax.Array:
        """The array in the IR's order."""
        if value.id not in self._plain:
            self._plain[value.id] = jnp.moveaxis(self._last[value.id], -1, 1)
        return self._plain[value.id]

    def channels_last(self, value: Value) -> jax.Array:
        """An image as (batch, height, width, channels)."""
        if value.id not in self._last:
            self._last[value.id] = jnp.moveaxis(self._plain[value.id], 1, -1)
        return self._last[value.id]

    def put(self, value: Value, array: jax.Array, channels_last: bool) -> None:
        """Keep what has been computed."""
        (self._last if channels_last else self._plain)[value.id] = array

    def form_for(self, node: Node) -> ChannelsLast | None:
        """How the node is computed with the channels last, None where it is not: such a form must exist and fit the
        operands, and they must be so already unless it is worth a transposition."""
        form = CHANNELS_LAST.get(node.op)
        if form is None:
            return None
        images = form.images(node)
        fits = bool(images) and all(len(v.spec.shape) == IMAGE for v in images)
        return form if fits and (form.leads or any(v.id in self._last for v in images)) else None
