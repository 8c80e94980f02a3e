"""Draw up a plan's placement: who runs what, what was refused, what each segment costs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from lazycore_plugin_api import Graph, Node, Segment

from lazycore.compiler.annotate import Annotator
from lazycore.compiler.estimate import estimate
from lazycore.compiler.placement import EagerOp, LostMatch, PlacedSegment, Placement, RefusedOp, Share
from lazycore.compiler.segments import Part
from lazycore.compiler.unit import Unit

__all__ = ["placement_of"]


def placement_of(
    graph: Graph,
    units: Sequence[Unit],
    parts: Sequence[Part],
    annotator: Annotator,
    crossing: frozenset[int],
    lost: Sequence[LostMatch],
    notes: Mapping[str, str],
) -> Placement:
    """The placement of a graph that is cut into ``parts``; ``crossing``: ids of the values between them;
    ``notes``: what there is to say of a segment's sizes, by its name."""
    names = [backend.name for backend in annotator.backends]
    segments = tuple(
        _segment(names[unit.backend], part, crossing, notes.get(part.name, ""))
        for unit, part in zip(units, parts, strict=True)
        if isinstance(part, Segment) and unit.backend is not None
    )
    nodes = (part for part in parts if isinstance(part, Node))
    eager = tuple(EagerOp(n.op, n.source, annotator.refusals(n)) for n in nodes)
    return Placement(_shares(units, names), eager, segments, _refused(graph, annotator, names), tuple(lost))


def _shares(units: Sequence[Unit], names: Sequence[str]) -> tuple[Share, ...]:
    ops: Counter[int] = Counter()
    segments: Counter[int] = Counter()
    for unit in units:
        if unit.backend is not None:
            ops[unit.backend] += len(unit.nodes)
            segments[unit.backend] += 1
    return tuple(Share(names[b], ops[b], segments[b]) for b in sorted(ops))


def _segment(backend: str, segment: Segment, crossing: frozenset[int], sizes: str) -> PlacedSegment:
    cost = estimate(segment, crossing)
    return PlacedSegment(
        backend=backend,
        name=segment.name,
        ops=Counter(node.op for node in segment.nodes),
        sources=tuple(segment.sources()),
        flops=cost.flops,
        bytes_in=cost.bytes_in,
        bytes_out=cost.bytes_out,
        crossings=cost.crossings,
        crossing_bytes=cost.crossing_bytes,
        constants=len(segment.constants),
        sizes=sizes,
    )


def _refused(graph: Graph, annotator: Annotator, names: Sequence[str]) -> tuple[RefusedOp, ...]:
    refused = []
    for node in graph.nodes:
        refusals = annotator.refusals(node)
        if refusals:
            taker = annotator(node).backend
            refused.append(RefusedOp(node.op, node.source, None if taker is None else names[taker], refusals))
    return tuple(refused)
