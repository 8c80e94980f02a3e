"""Where chains of elementwise ops are cut.

XLA's fusion on CPU computes a value once more for each kernel that reads it, and so all that the value is computed
from. In a long program in which one thing is used for several others, as few models have it and many simulations, most
of the code and most of the time becomes repetition: 4,000 such ops had not compiled in 70 s, and take 16 with chains
cut. Nothing in XLA's own measure of duplication looks further than one step, and its optimization barriers
are gone when it fuses; a call that is not inlined is a border that it respects.
"""

from __future__ import annotations

import jax
from jax import lax
from jax.experimental.xla_metadata import set_xla_metadata
from lazycore_plugin_api import Node
from lazycore_plugin_api.opset import row_of

__all__ = ["LONGEST", "Chains", "kept"]

LONGEST = 128
"""Elementwise ops that a value may be computed from. Between 64 and 128 it makes no difference to what compiles slowly,
while each cut costs a kernel; the layers of networks stay below."""

_ELEMENTWISE = ("broadcast(", "same_as(self)")
_VIEWS = frozenset(
    f"aten.{name}.default" for name in ("view", "_unsafe_view", "expand", "permute", "squeeze", "unsqueeze")
) | {"aten.slice.Tensor", "aten.select.int"}


class Chains:
    """Which ops each value is computed from, as a segment is traced, back to what is in memory: a bit for each op."""

    def __init__(self) -> None:
        self._ops: dict[int, int] = {}
        self._next = 1

    def is_too_long(self, node: Node) -> bool:
        """Whether the node's result is to be computed once and kept. Called for each node in turn."""
        ops = self._reached(node)
        ends = ops.bit_count() > LONGEST
        if ops and not ends:
            self._ops.update((value.id, ops) for value in node.outputs)
        return ends

    def _reached(self, node: Node) -> int:
        if not _continues(node):
            return 0  # a kernel of its own: what it is computed from is not computed again
        ops = 0
        for value in node.inputs():
            ops |= self._ops.get(value.id, 0)
        if node.op not in _VIEWS:
            ops |= self._next
            self._next <<= 1
        return ops


def kept(array: jax.Array) -> jax.Array:
    """The same array, with which no kernel is fused across."""
    with set_xla_metadata(inlineable="false"):
        return jax.jit(lax.optimization_barrier)(array)


def _continues(node: Node) -> bool:
    if node.op in _VIEWS:
        return True
    rule = row_of(node.op).shape
    return rule is not None and rule.text.startswith(_ELEMENTWISE)
