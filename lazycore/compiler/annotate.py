"""Who takes which node: every decision is kept as data, so that a report can tell why an op runs where it does."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from lazycore_plugin_api import BackendInfo, Decision, Dim, Node, Rejected, Supported, Value

from lazycore.compiler.placement import Refusal
from lazycore.compiler.protocols import Backend

__all__ = ["Annotation", "Annotator"]


@dataclass(frozen=True)
class Annotation:
    """One node's decision. ``backend``: position of the first backend that takes it, None where nobody does.
    ``rejections``: position -> why, for the backends asked before."""

    backend: int | None
    rejections: Mapping[int, Rejected]


class Annotator:
    """Asks the selected backends in order, each at most once per node; about a composite only the one that declared its
    pattern."""

    def __init__(self, backends: Sequence[Backend]) -> None:
        self.backends = tuple(backends)
        self._decisions: dict[Node, dict[int, Decision]] = {}

    def __call__(self, node: Node) -> Annotation:
        """The node's annotation; quick for a node seen before."""
        rejections: dict[int, Rejected] = {}
        for position in self._candidates(node):
            decision = self.decision(node, position)
            if not isinstance(decision, Rejected):
                return Annotation(position, rejections)
            rejections[position] = decision
        return Annotation(None, rejections)

    def decision(self, node: Node, position: int) -> Decision:
        """What the backend at ``position`` says of the node."""
        decisions = self._decisions.setdefault(node, {})
        if position not in decisions:
            decisions[position] = _decide(self.backends[position], node)
        return decisions[position]

    def taken_before(self, node: Node, position: int) -> bool:
        """Whether a backend before ``position`` takes the node."""
        earlier = (p for p in self._candidates(node) if p < position)
        return any(not isinstance(self.decision(node, p), Rejected) for p in earlier)

    def exclude(self, position: int, nodes: Iterable[Node], reason: Rejected) -> None:
        """From now on the backend at ``position`` does not take these nodes."""
        for node in nodes:
            self._decisions.setdefault(node, {})[position] = reason

    def refusals(self, node: Node) -> tuple[Refusal, ...]:
        """Why the backends that were asked did not take the node."""
        rejections = self(node).rejections.items()
        return tuple(Refusal(self.backends[i].name, r.code, r.reason) for i, r in rejections)

    def reasons(self, node: Node) -> dict[str, str]:
        """Backend name -> why it did not take the node."""
        return {refusal.backend: refusal.reason for refusal in self.refusals(node)}

    def _candidates(self, node: Node) -> Iterable[int]:
        if node.body is None:
            return range(len(self.backends))
        owner = node.op.partition(".")[0]
        return [p for p, backend in enumerate(self.backends) if backend.name == owner]


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
