"""Put composites in the place of what backends' patterns match: the largest match first, each node in at most one."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count

from lazycore_plugin_api import Graph, Match, Node, Pattern, Rejected, Supported, verify

from lazycore.compiler.annotate import Annotator
from lazycore.compiler.failures import BackendWarning
from lazycore.compiler.patterns.convexity import Groups
from lazycore.compiler.patterns.matcher import Found, Matcher
from lazycore.compiler.patterns.wrap import Reads, composite
from lazycore.compiler.placement import LostMatch
from lazycore.compiler.protocols import Backend
from lazycore.compiler.ssa import first_free_id, in_order

__all__ = ["compose"]


def compose(
    graph: Graph, annotator: Annotator, position: int, patterns: Sequence[Pattern], bound: frozenset[int]
) -> tuple[Graph, list[LostMatch]]:
    """The graph with composites of one backend's patterns, and the matches that were rejected. ``position``: the
    backend's among the selected; ``bound``: ids of inputs whose content is known to it.

    The patterns see no composite, nor any node that a backend before this one takes. Raises InvalidGraph where that
    makes no valid graph.
    """
    lost: list[LostMatch] = []
    if patterns:
        graph = _Composer(graph, annotator, position, bound, lost).run(patterns)
        verify(graph)
    return graph, lost


@dataclass(frozen=True)
class _Candidate:
    pattern: Pattern
    order: int
    found: Found

    @property
    def members(self) -> frozenset[int]:
        return frozenset(self.found.nodes)

    def rank(self) -> tuple[object, ...]:
        return -len(self.found.nodes), -self.pattern.priority, self.order, sorted(self.found.nodes)


class _Composer:
    def __init__(
        self, graph: Graph, annotator: Annotator, position: int, bound: frozenset[int], lost: list[LostMatch]
    ) -> None:
        self.graph = graph
        self.annotator = annotator
        self.position = position
        self.backend: Backend = annotator.backends[position]
        self.groups = Groups(graph)
        self.reads = Reads(graph)
        self.matcher = Matcher(graph, self._free, bound)
        self.lost = lost

    def run(self, patterns: Sequence[Pattern]) -> Graph:
        candidates = [c for order, pattern in enumerate(patterns) for c in self._candidates(order, pattern)]
        chosen: list[_Candidate] = []
        refused: list[tuple[_Candidate, Rejected]] = []
        for candidate in sorted(candidates, key=_Candidate.rank):
            if self.groups.taken(candidate.members):
                continue
            decision = self._obstacle(candidate) or self._check(candidate)
            if isinstance(decision, Rejected):
                refused.append((candidate, decision))
            else:
                self.groups.add(candidate.members)
                chosen.append(candidate)
        # What another match took after all is no loss worth telling.
        self.lost += [self._lost(c, d) for c, d in refused if not self.groups.taken(c.members)]
        return self._wrapped(chosen) if chosen else self.graph

    def _free(self, position: int) -> bool:
        node = self.graph.nodes[position]
        return node.body is None and not self.annotator.taken_before(node, self.position)

    def _candidates(self, order: int, pattern: Pattern) -> Iterator[_Candidate]:
        seen: set[frozenset[int]] = set()
        try:
            for found in self.matcher.matches(pattern):
                members = frozenset(found.nodes)
                if members not in seen:
                    seen.add(members)
                    yield _Candidate(pattern, order, found)
        except Exception as error:
            text = f"{self.backend.name}'s pattern {pattern.name}: a predicate raised {type(error).__name__}: {error}"
            warnings.warn(f"{text}; its remaining matches are left out", BackendWarning, stacklevel=2)
            self.lost.append(LostMatch(self.backend.name, pattern.name, (), "plugin_error", text, None))

    def _obstacle(self, candidate: _Candidate) -> Rejected | None:
        """What the graph has against the match."""
        found, members = candidate.found, candidate.members
        for position, escapes in found.nodes.items():
            node = self.graph.nodes[position]
            inner = position not in found.roots and not escapes
            if inner and any(self.reads.outside(out, members) for out in node.outputs):
                return Rejected("escapes", f"a value of {node.op} is used outside of the group")
        written = {out.id for p in members for out in self.graph.nodes[p].outputs}
        for name, value in found.values.items():
            if name not in found.named and value.id in written:
                return Rejected("inside", f"{name} is computed inside of the group")
        outputs = (out for p in members for out in self.graph.nodes[p].outputs)
        if not any(self.reads.outside(out, members) for out in outputs):
            return Rejected("unused", "nobody reads what the group computes")
        if self.groups.comes_back(members):
            return Rejected("cycle", "something outside of the group would both read from it and be read by it")
        return None

    def _check(self, candidate: _Candidate) -> Supported | Rejected:
        check = candidate.pattern.check
        if check is None:
            return Supported()
        nodes, found = self.graph.nodes, candidate.found
        named = {name: nodes[position] for name, position in found.named.items()}
        match = Match([nodes[p] for p in sorted(found.nodes)], dict(found.values), named)
        where = f"{self.backend.name}'s pattern {candidate.pattern.name} at {match.nodes[-1].source}"
        try:
            decision = check(match)
        except Exception as error:
            text = f"{where}: its check raised {type(error).__name__}: {error}"
            warnings.warn(f"{text}; the ops stay single", BackendWarning, stacklevel=2)
            return Rejected("plugin_error", text)
        if isinstance(decision, (Supported, Rejected)):
            return decision
        return Rejected("plugin_error", f"{where}: its check returned {decision!r}, which is no decision")

    def _lost(self, candidate: _Candidate, decision: Rejected) -> LostMatch:
        nodes = [self.graph.nodes[p] for p in sorted(candidate.members)]
        ops = tuple(node.op for node in nodes)
        pattern = candidate.pattern.name
        return LostMatch(self.backend.name, pattern, ops, decision.code, decision.reason, nodes[-1].source)

    def _wrapped(self, chosen: list[_Candidate]) -> Graph:
        ids = count(first_free_id(self.graph))
        gone = {position for candidate in chosen for position in candidate.members}
        nodes: dict[int, Node] = {i: node for i, node in enumerate(self.graph.nodes) if i not in gone}
        for candidate in chosen:
            name = f"{self.backend.name}.{candidate.pattern.name}"
            nodes[max(candidate.members)] = composite(self.graph, self.reads, candidate.found, name, ids)
        ordered = in_order([nodes[i] for i in sorted(nodes)])
        return Graph(self.graph.inputs, ordered, self.graph.outputs)
