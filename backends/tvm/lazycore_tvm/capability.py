"""Which nodes the plugin takes: a look-up in the lowering table, then the row's dtypes, sizes and check."""

from __future__ import annotations

from collections.abc import Iterator

from lazycore_plugin_api import Decision, Node, Rejected, Supported, Value

import lazycore_tvm.lowerings  # noqa: F401  (fills the table)
from lazycore_tvm.any_size import ANY_SIZE, SIZE_ARGUMENTS, varies, varies_in
from lazycore_tvm.registry import TABLE, Kind, Lowering

__all__ = ["decide"]

# Positions in flattened tensors are computed in 32 bits.
_LARGEST = 2**31 - 1


def decide(node: Node) -> Decision:
    """Supported, or Rejected with the code ``op``, ``dtype``, ``shape`` or ``attribute``."""
    row = TABLE.get(node.op)
    if row is None:
        return Rejected("op", f"lazycore-tvm has no lowering of {node.op}")
    return next(_objections(node, row), None) or Supported()


def _objections(node: Node, row: Lowering) -> Iterator[Rejected]:
    for value in (*node.inputs(), *node.outputs):
        yield from _objections_to(value, node, row)
    if varies(node):
        # All else was looked at when the node came in each of its sizes.
        yield from _objections_to_sizes(node, row)
        return
    if not row.empty and row.kind is not Kind.host and _empty(node.inputs()) and not _empty(node.outputs):
        yield Rejected("shape", f"{node.op} makes something out of an empty tensor, which no loop of TVM's can")
    reason = row.check(node) if row.check else None
    if reason:
        yield Rejected("attribute", f"{node.op}: {reason}")


def _objections_to(value: Value, node: Node, row: Lowering) -> Iterator[Rejected]:
    if value.spec.dtype not in row.dtypes:
        yield Rejected("dtype", f"the lowering of {node.op} does not take {value.spec.dtype.value}")
    elif all(isinstance(size, int) for size in value.spec.shape) and value.spec.numel > _LARGEST:
        yield Rejected("shape", f"{value} of {node.op} has more than {_LARGEST} elements")


def _objections_to_sizes(node: Node, row: Lowering) -> Iterator[Rejected]:
    # Functions on the host get each launch's own numbers.
    if row.kind is not Kind.host:
        if node.op not in ANY_SIZE:
            yield Rejected("shape", f"the lowering of {node.op} takes no sizes that vary")
        elif node.op not in SIZE_ARGUMENTS and any(map(varies_in, (*node.args, *node.kwargs.values()))):
            yield Rejected("attribute", f"the lowering of {node.op} takes no arguments that vary with the sizes")


def _empty(values: object) -> bool:
    return any(v.spec.numel == 0 for v in values)  # type: ignore[attr-defined]
