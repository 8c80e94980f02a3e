"""Which nodes the plugin takes: a look-up in the lowering table, then the row's dtypes and check."""

from __future__ import annotations

from lazycore_plugin_api import Decision, Node, Rejected, Supported, Value

import lazycore_xla.lowerings  # noqa: F401  (fills the table)
from lazycore_xla.registry import TABLE, Lowering

__all__ = ["decide"]


def decide(node: Node, platform: str) -> Decision:
    """Supported, or Rejected with the code ``op``, ``platform``, ``dtype``, ``shape`` or ``attribute``."""
    row = TABLE.get(node.op)
    if row is None:
        return Rejected("op", f"lazycore-xla has no lowering of {node.op}")
    if row.platforms is not None and platform not in row.platforms:
        return Rejected("platform", f"jax computes {node.op} on {', '.join(sorted(row.platforms))}, not on {platform}")
    return _rejected_value(node, row) or _rejected_argument(node, row) or Supported()


def _rejected_value(node: Node, row: Lowering) -> Rejected | None:
    for value in (*node.inputs(), *node.outputs):
        if value.spec.dtype not in row.dtypes:
            return Rejected("dtype", f"the lowering of {node.op} does not take {value.spec.dtype.value}")
        if not _is_static(value):
            return Rejected("shape", f"{value} of {node.op} has a symbolic size; XLA compiles for fixed ones")
    return None


def _is_static(value: Value) -> bool:
    return all(isinstance(size, int) for size in value.spec.shape)


def _rejected_argument(node: Node, row: Lowering) -> Rejected | None:
    reason = row.check(node) if row.check else None
    return Rejected("attribute", f"{node.op}: {reason}") if reason else None
