"""Sums of slices' gradients become one concatenation.

The gradient of a tensor that was taken apart arrives as a sum of tensors of its full size, each zero but for one part.
Where the parts do not overlap, laying them side by side is the same: every element of the sum is one part's element
plus zeros (only the sign of a negative zero is lost by adding, and kept here). It costs one pass over memory instead
of one per part, and no compiler of ours finds it by itself.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from lazycore_plugin_api import Graph, Node, TensorSpec, Value

from lazycore.compiler.ssa import first_free_id, rewire

__all__ = ["concatenate_slice_gradients"]

ADD = "aten.add.Tensor"
SLICE = "aten.slice_backward.default"
SELECT = "aten.select_backward.default"
FEWEST = 2
"""Parts from which on a concatenation is worth it."""


@dataclass(frozen=True)
class _Part:
    """A gradient that is ``value`` in [begin, end) of ``dim`` and zero elsewhere."""

    value: Value
    dim: int
    begin: int
    end: int


def concatenate_slice_gradients(graph: Graph) -> Graph:
    """Replace each sum with at least two disjoint slice gradients of the same dimension by a concatenation, plus
    whatever else was added."""
    return _Rewriter(graph).run()


class _Rewriter:
    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.producers = graph.producers()
        self.uses = Counter(value.id for node in graph.nodes for value in node.inputs())
        self.uses.update(value.id for value in graph.outputs)
        self.next_id = first_free_id(graph)
        self.made: list[Node] = []

    def run(self) -> Graph:
        inner = {
            value.id for node in self.graph.nodes if _is_sum(node) for value in node.inputs() if self._is_inner(value)
        }
        instead: dict[int, Value] = {}
        for node in self.graph.nodes:
            root = _is_sum(node) and node.outputs[0].id not in inner
            total = self._merged(node, instead) if root else None
            if total is None:
                self.made.append(rewire(node, instead))
            else:
                instead[node.outputs[0].id] = total
        outputs = tuple(instead.get(value.id, value) for value in self.graph.outputs)
        return Graph(self.graph.inputs, self.made, outputs)

    def _is_inner(self, value: Value) -> bool:
        """Whether the value is a sum that is used in one other sum and nowhere else."""
        node = self.producers.get(value.id)
        return node is not None and _is_sum(node) and self.uses[value.id] == 1

    def _leaves(self, node: Node) -> Iterator[Value]:
        for value in node.inputs():
            if self._is_inner(value):
                yield from self._leaves(self.producers[value.id])
            else:
                yield value

    def _merged(self, node: Node, instead: Mapping[int, Value]) -> Value | None:
        leaves = list(self._leaves(node))
        parts = {v.id: p for v in leaves if (p := self._part(v)) is not None}
        chosen = _disjoint(list(parts.values()))
        if len(chosen) < FEWEST:
            return None
        total = self._concatenated(node, chosen, instead)
        taken = {id(part) for part in chosen}
        for value in leaves:
            part = parts.get(value.id)
            if part is None or id(part) not in taken:
                operands = (total, instead.get(value.id, value))
                total = self._emit(ADD, operands, {"alpha": 1}, node.outputs[0].spec, node)
        return total

    def _part(self, value: Value) -> _Part | None:
        node = self.producers.get(value.id)
        if node is None or self.uses[value.id] != 1 or node.op not in (SLICE, SELECT):
            return None
        gradient, sizes, dim, *where = node.args
        if not isinstance(gradient, Value) or not isinstance(sizes, tuple) or not isinstance(dim, int):
            return None
        if not all(isinstance(x, int) for x in where):
            return None
        extent = value.spec.static_shape[dim]
        if node.op == SELECT:
            (index,) = where
            begin = _wrapped(index, extent)
            return _Part(gradient, dim % len(sizes), begin, begin + 1)
        start, end, step = where
        begin, stop = _clamped(start, extent), _clamped(end, extent)
        return _Part(gradient, dim % len(sizes), begin, stop) if step == 1 and begin < stop else None

    def _concatenated(self, node: Node, parts: list[_Part], instead: Mapping[int, Value]) -> Value:
        spec = node.outputs[0].spec
        dim, extent = parts[0].dim, spec.static_shape[parts[0].dim]
        pieces: list[Value] = []
        at = 0
        for part in sorted(parts, key=lambda p: p.begin):
            pieces += self._zeros(spec, dim, part.begin - at, node)
            pieces.append(self._shaped(part, spec, instead, node))
            at = part.end
        pieces += self._zeros(spec, dim, extent - at, node)
        return self._emit("aten.cat.default", (tuple(pieces), dim), {}, spec, node)

    def _shaped(self, part: _Part, spec: TensorSpec, instead: Mapping[int, Value], node: Node) -> Value:
        value = instead.get(part.value.id, part.value)
        shape = _with(spec, part.dim, part.end - part.begin)
        if value.spec.shape == shape.shape:
            return value
        return self._emit("aten.view.default", (value, shape.static_shape), {}, shape, node)

    def _zeros(self, spec: TensorSpec, dim: int, extent: int, node: Node) -> list[Value]:
        if extent <= 0:
            return []
        shape = _with(spec, dim, extent)
        return [self._emit("aten.full.default", (shape.static_shape, 0), {"dtype": spec.dtype}, shape, node)]

    def _emit(
        self, op: str, args: tuple[object, ...], kwargs: Mapping[str, object], spec: TensorSpec, near: Node
    ) -> Value:
        value = Value(self.next_id, spec)
        self.next_id += 1
        self.made.append(Node(op, args, kwargs, (value,), near.source))  # type: ignore[arg-type]
        return value


def _is_sum(node: Node) -> bool:
    """An addition of two tensors of the result's own shape and dtype, nothing scaled."""
    if node.op != ADD or node.kwargs.get("alpha") != 1 or isinstance(node.kwargs.get("alpha"), Value):
        return False
    spec = node.outputs[0].spec
    return all(isinstance(a, Value) and a.spec == spec for a in node.args)


def _disjoint(parts: list[_Part]) -> list[_Part]:
    """As many parts of the first one's dimension as lie side by side, in order of where they begin."""
    chosen: list[_Part] = []
    for part in sorted((p for p in parts if p.dim == parts[0].dim), key=lambda p: p.begin):
        if not chosen or part.begin >= chosen[-1].end:
            chosen.append(part)
    return chosen


def _with(spec: TensorSpec, dim: int, extent: int) -> TensorSpec:
    shape = spec.static_shape
    return TensorSpec((*shape[:dim], extent, *shape[dim + 1 :]), spec.dtype)


def _wrapped(index: object, extent: int) -> int:
    assert isinstance(index, int)
    return index + extent if index < 0 else index


def _clamped(index: object, extent: int) -> int:
    return min(max(_wrapped(index, extent), 0), extent)
