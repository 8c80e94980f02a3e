"""Writing nodes: fresh values, the user's line, and the few helpers that every part of the builder needs."""

from __future__ import annotations

from collections.abc import Mapping

from lazycore_plugin_api import Argument, DType, Node, Source, TensorSpec, Value

__all__ = ["NodeWriter"]


class NodeWriter:
    """Appends nodes of a graph under construction; ``source`` is the line that the next ones stem from."""

    def __init__(self) -> None:
        self.nodes: list[Node] = []
        self.source: Source | None = None
        self._count = 0

    def fresh(self, spec: TensorSpec) -> Value:
        """A value that nothing writes yet."""
        value = Value(self._count, spec)
        self._count += 1
        return value

    def emit(self, op: str, args: tuple[Argument, ...], kwargs: Mapping[str, Argument], spec: TensorSpec) -> Value:
        """Append a node with one output."""
        return self.emit_many(op, args, kwargs, (spec,))[0]

    def emit_many(
        self, op: str, args: tuple[Argument, ...], kwargs: Mapping[str, Argument], specs: tuple[TensorSpec, ...]
    ) -> tuple[Value, ...]:
        """Append a node."""
        outputs = tuple(self.fresh(s) for s in specs)
        self.nodes.append(Node(op, args, dict(kwargs), outputs, self.source))
        return outputs

    def cast(self, value: Value, dtype: DType) -> Value:
        """The value in another dtype."""
        if value.spec.dtype is dtype:
            return value
        return self.emit("aten._to_copy.default", (value,), {"dtype": dtype}, TensorSpec(value.spec.shape, dtype))
