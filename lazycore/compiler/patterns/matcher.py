"""Match one pattern against a graph, by backtracking from the roots to the operands."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from lazycore_plugin_api import Argument, Graph, Node, Value
from lazycore_plugin_api.patterns import Any, Constant, Op, Optional, Pattern, PatternNode

from lazycore.compiler.patterns.literals import Number, is_wanted, number_of

__all__ = ["Found", "Matcher"]


@dataclass(frozen=True)
class Found:
    """What is matched so far. ``nodes``: position -> whether its values may be used outside. ``literals``: positions of
    nodes that are copied rather than taken. ``values``: by name. ``named``: positions of named ops. ``numbers``: named
    literals. ``roots``: positions of the nodes that write what the pattern's roots describe."""

    nodes: Mapping[int, bool] = field(default_factory=dict)
    literals: frozenset[int] = frozenset()
    values: Mapping[str, Value] = field(default_factory=dict)
    named: Mapping[str, int] = field(default_factory=dict)
    numbers: Mapping[str, Number] = field(default_factory=dict)
    roots: frozenset[int] = frozenset()


class Matcher:
    """Matches in one graph. ``free(position)``: whether a node may be part of a match. ``bound``: ids of inputs whose
    content is known. Predicates of the pattern may raise anything."""

    def __init__(self, graph: Graph, free: Callable[[int], bool], bound: frozenset[int]) -> None:
        self._nodes = graph.nodes
        self._free = free
        self._bound = bound
        self._writers = {v.id: (i, k) for i, node in enumerate(graph.nodes) for k, v in enumerate(node.outputs)}
        self._positions: dict[str, list[int]] = {}
        for position, node in enumerate(graph.nodes):
            self._positions.setdefault(node.op, []).append(position)

    def matches(self, pattern: Pattern) -> Iterator[Found]:
        """Every way in which the pattern matches, in the order of the nodes that the first root starts with."""
        return self._roots(pattern.roots, Found())

    def _roots(self, roots: Sequence[PatternNode], found: Found) -> Iterator[Found]:
        if not roots:
            yield found
            return
        for value in self._starts(roots[0]):
            for more in self._value(roots[0], value, found):
                root = self._writers[value.id][0]
                if root in more.nodes:
                    yield from self._roots(roots[1:], replace(more, roots=more.roots | {root}))

    def _starts(self, root: PatternNode) -> list[Value]:
        """The values that the root may describe: of the op it names, or of what stands without that op."""
        starts: dict[int, Value] = {}
        while True:
            op = root.pattern if isinstance(root, Optional) else root
            if not isinstance(op, Op):
                break
            for position in sorted(p for name in _names(op) for p in self._positions.get(name, ())):
                outputs = self._nodes[position].outputs
                if op.result < len(outputs):
                    starts[outputs[op.result].id] = outputs[op.result]
            if op is root or not op.operands:
                break
            root = op.operands[0]
        return sorted(starts.values(), key=lambda value: self._writers[value.id])

    def _value(self, pattern: PatternNode, value: Value, found: Found) -> Iterator[Found]:
        if isinstance(pattern, Optional):
            yield from self._value(pattern.pattern, value, found)
            if isinstance(pattern.pattern, Op) and pattern.pattern.operands:
                yield from self._value(pattern.pattern.operands[0], value, found)
        elif isinstance(pattern, Op):
            yield from self._op(pattern, value, found)
        elif isinstance(pattern, Constant):
            yield from self._constant(pattern, value, found)
        elif _allows(pattern, value):
            yield from _named(found, pattern.name, value)

    def _constant(self, pattern: Constant, value: Value, found: Found) -> Iterator[Found]:
        position = self._writers[value.id][0] if value.id in self._writers else None
        number = None if position is None else number_of(self._nodes[position])
        if position is not None and number is not None:
            if pattern.equals is None or is_wanted(number, pattern.equals):
                numbers = found.numbers if pattern.name is None else {**found.numbers, pattern.name: number}
                found = replace(found, literals=found.literals | {position}, numbers=numbers)
                yield from _named(found, pattern.name, value)
        elif value.id in self._bound and pattern.equals is None:
            yield from _named(found, pattern.name, value)

    def _op(self, pattern: Op, value: Value, found: Found) -> Iterator[Found]:
        position, result = self._writers.get(value.id, (-1, 0))
        if position < 0 or result != pattern.result or not _fits(pattern, self._nodes[position], value):
            return
        if not self._free(position) or (pattern.name and found.named.get(pattern.name, position) != position):
            return
        nodes = {**found.nodes, position: pattern.escapes or found.nodes.get(position, False)}
        named = {**found.named, pattern.name: position} if pattern.name else found.named
        for more in _named(replace(found, nodes=nodes, named=named), pattern.name, value):
            yield from self._any_order(pattern, list(self._nodes[position].inputs()), more)

    def _any_order(self, pattern: Op, values: list[Value], found: Found) -> Iterator[Found]:
        if not pattern.operands:
            yield found
            return
        yield from self._operands(pattern.operands, values, found)
        if pattern.commutative and len(values) > 1:
            yield from self._operands(pattern.operands, [values[1], values[0], *values[2:]], found)

    def _operands(self, patterns: Sequence[PatternNode], values: Sequence[Value], found: Found) -> Iterator[Found]:
        if not patterns:
            if not values:
                yield found
            return
        if values:
            for more in self._value(patterns[0], values[0], found):
                yield from self._operands(patterns[1:], values[1:], more)
        if isinstance(patterns[0], Optional) and not isinstance(patterns[0].pattern, Op):
            yield from self._operands(patterns[1:], values, found)


def _names(op: Op) -> tuple[str, ...]:
    return (op.op,) if isinstance(op.op, str) else tuple(op.op)


def _allows(pattern: Any, value: Value) -> bool:
    fits = not pattern.dtypes or value.spec.dtype in pattern.dtypes
    return fits and (pattern.where is None or bool(pattern.where(value)))


def _fits(pattern: Op, node: Node, value: Value) -> bool:
    if node.op not in _names(pattern) or (pattern.dtypes and value.spec.dtype not in pattern.dtypes):
        return False
    return all(_attribute_fits(node, where, wanted) for where, wanted in pattern.attributes.items())


def _attribute_fits(node: Node, where: int | str, wanted: Argument | Callable[[Argument], bool]) -> bool:
    if isinstance(where, str):
        return where in node.kwargs and is_wanted(node.kwargs[where], wanted)
    return where < len(node.args) and is_wanted(node.args[where], wanted)


def _named(found: Found, name: str | None, value: Value) -> Iterator[Found]:
    """The match with the value under its name; nothing where the name already stands for another value."""
    if name is None:
        yield found
    elif found.values.get(name, value).id == value.id:
        yield replace(found, values={**found.values, name: value})
