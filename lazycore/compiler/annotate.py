"""Who takes which node: every decision is kept as data, so that a report can tell why an op runs where it does."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from lazycore_plugin_api import BackendInfo, Decision, Dim, Node, Rejected, Supported, Value

from lazycore.compiler.protocols import Backend

__all__ = ["Annotation", "Annotator"]


@dataclass(frozen=True)
class Annotation:
    """One node's decision. ``backend``: position of the first backend that takes it, None where nobody does.
    ``rejections``: position -> why, for the backends asked before."""

    backend: int | None
    rejections: Mapping[int, Rejected]


class Annotator:
    """Asks the selected backends in order, each at most once per node."""

    def __init__(self, backends: Sequence[Backend]) -> None:
        self.backends = tuple(backends)
        self._decisions: dict[Node, dict[int, Decision]] = {}

    def __call__(self, node: Node) -> Annotation:
        """The node's annotation; quick for a node seen before."""
        decisions = self._decisions.setdefault(node, {})
        rejections: dict[int, Rejected] = {}
        for position, backend in enumerate(self.backends):
            if position not in decisions:
                decisions[position] = _decide(backend, node)
            decision = decisions[position]
            if not isinstance(decision, Rejected):
                return Annotation(position, rejections)
            rejections[position] = decision
        return Annotation(None, rejections)

    def exclude(self, position: int, nodes: Iterable[Node], reason: Rejected) -> None:
        """From now on the backend at ``position`` does not take these nodes."""
        for node in nodes:
            self._decisions.setdefault(node, {})[position] = reason

    def reasons(self, node: Node) -> dict[str, str]:
        """Backend name -> why it did not take the node."""
        return {self.backends[i].name: r.reason for i, r in self(node).rejections.items()}


def _decide(backend: Backend, node: Node) -> Decision:
    for value in (*node.inputs(), *node.outputs):
        refusal = _refuse(backend.info, value)
        if refusal is not None:
            return refusal
    decision = backend.supports(node)
    if isinstance(decision, (Supported, Rejected)):
        return decision
    return Rejected("plugin", f"supports() returned {decision!r}, which is no decision")


def _refuse(info: BackendInfo, value: Value) -> Rejected | None:
    if value.spec.dtype not in info.dtypes:
        return Rejected("dtype", f"{info.name} has no {value.spec.dtype.value}")
    if not info.capabilities.dynamic_dims and any(isinstance(size, Dim) for size in value.spec.shape):
        return Rejected("shape", f"{info.name} needs sizes known at compile time, and {value} is {value.spec}")
    return None
