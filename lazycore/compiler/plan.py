"""The plan: what the executor walks. Everything that a cached run needs is worked out here, once.

A plan's values live in slots: first its inputs, then every step's outputs in order. A slot is written once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass

from lazycore_plugin_api import (
    Buffer,
    Constants,
    Executable,
    Graph,
    HostArray,
    Node,
    Segment,
    Session,
    TensorSpec,
    Value,
)

from lazycore.compiler.failures import describe
from lazycore.compiler.placement import Placement
from lazycore.compiler.protocols import Backend
from lazycore.compiler.sizes import nbytes
from lazycore.compiler.ssa import distinct_inputs
from lazycore.compiler.turns import run_turn

__all__ = ["Donation", "EagerStep", "Plan", "SegmentStep", "Work", "make_plan"]

Work = tuple[Segment, Backend, Executable] | Node
"""One step as the compile leaves it."""

# The smallest results of a step may be dropped or donated by the next launch, hardly all of them.
_WITNESSES = 4


@dataclass(frozen=True, slots=True)
class Donation:
    """An input that a segment's executable may overwrite: position in its inputs, slot, and whether the plan's caller
    owns it (a plan input) or the plan itself does."""

    position: int
    slot: int
    is_plan_input: bool


@dataclass(frozen=True, slots=True)
class SegmentStep:
    """Launch one executable. Its inputs are the buffers in ``tensors``, then the numbers in ``scalars`` (slots).

    ``aliased``: positions of outputs that are declared to share an input's memory; ``shared``: those of them where that
    memory belongs to a living value, so that they are copied. ``turn``: held while running
    where the backend runs one thread at a time. ``release``: slots that nobody needs afterwards.
    """

    segment: Segment
    backend: str
    session: Session
    run: Callable[[Sequence[Buffer | HostArray]], Sequence[Buffer]]
    turn: AbstractContextManager[object] | None
    tensors: tuple[int, ...]
    scalars: tuple[int, ...]
    specs: tuple[TensorSpec, ...]
    donations: tuple[Donation, ...]
    aliased: frozenset[int]
    shared: tuple[int, ...]
    release: tuple[int, ...]
    origin: str


@dataclass(frozen=True, slots=True)
class EagerStep:
    """Run one node eagerly. ``inputs``: slots of its distinct input values in order of first use."""

    node: Node
    inputs: tuple[int, ...]
    specs: tuple[TensorSpec, ...]
    release: tuple[int, ...]
    origin: str


@dataclass(slots=True)
class Plan:
    """A compiled trace.

    ``outputs``: slots, one per graph output, repeated where the graph repeats them and below ``inputs`` (their number)
    where it returns an input. ``numbers``: positions of outputs whose slot is a scalar input. ``donated``: plan inputs
    that a step overwrites. ``bindable``: plan inputs that a step of a backend reads which wants frozen inputs bound.
    ``witnesses``: for each step the positions of its smallest outputs, which tell when it has ended.
    ``proven``: set by the first run that ends well; before that, no plan input is donated and
    every output is checked.
    """

    inputs: int
    steps: tuple[SegmentStep | EagerStep, ...]
    outputs: tuple[int, ...]
    numbers: tuple[int, ...]
    donated: frozenset[int]
    placement: Placement
    bindable: frozenset[int] = frozenset()
    witnesses: tuple[tuple[int, ...], ...] = ()
    proven: bool = False


def make_plan(graph: Graph, work: Sequence[Work], scalars: frozenset[int], placement: Placement) -> Plan:
    """Slots, donations and releases for the steps of ``graph`` in order."""
    slots = {value.id: p for p, value in enumerate(graph.inputs)}
    for item in work:
        for value in _written(item):
            slots[value.id] = len(slots)
    outputs = tuple(slots[value.id] for value in graph.outputs)
    releases = _releases(work, slots, frozenset(outputs))
    steps = tuple(_step(item, slots, len(graph.inputs), r) for item, r in zip(work, releases, strict=True))
    donations = (d for step in steps if isinstance(step, SegmentStep) for d in step.donations)
    return Plan(
        inputs=len(graph.inputs),
        steps=steps,
        outputs=outputs,
        numbers=tuple(p for p, slot in enumerate(outputs) if slot in scalars),
        donated=frozenset(d.slot for d in donations if d.is_plan_input),
        placement=placement,
        bindable=_bindable(work, slots, len(graph.inputs)),
        witnesses=_witnesses(work, graph),
    )


def _witnesses(work: Sequence[Work], graph: Graph) -> tuple[tuple[int, ...], ...]:
    positions = {value.id: p for p, value in enumerate(graph.outputs)}
    found = ([value for value in _written(item) if value.id in positions] for item in work)
    smallest = (sorted(written, key=lambda value: nbytes([value]))[:_WITNESSES] for written in found if written)
    return tuple(tuple(positions[value.id] for value in written) for written in smallest)


def _bindable(work: Sequence[Work], slots: Mapping[int, int], inputs: int) -> frozenset[int]:
    wants = [w for w in work if not isinstance(w, Node) and w[1].info.constants is not Constants.passed]
    read = (slots[v.id] for segment, _, _ in wants for p, v in enumerate(segment.inputs) if p not in segment.scalars)
    return frozenset(slot for slot in read if slot < inputs)


def _read(item: Work) -> Sequence[Value]:
    return distinct_inputs(item) if isinstance(item, Node) else item[0].inputs


def _written(item: Work) -> Sequence[Value]:
    return item.outputs if isinstance(item, Node) else item[0].outputs


def _releases(work: Sequence[Work], slots: Mapping[int, int], kept: frozenset[int]) -> list[tuple[int, ...]]:
    last: dict[int, int] = {}
    for position, item in enumerate(work):
        last |= {slots[value.id]: position for value in (*_written(item), *_read(item))}
    due: list[list[int]] = [[] for _ in work]
    for slot, position in last.items():
        # What the last step would release goes with the whole run.
        if slot not in kept and position < len(work) - 1:
            due[position].append(slot)
    return [tuple(sorted(slots)) for slots in due]


def _step(item: Work, slots: Mapping[int, int], inputs: int, release: tuple[int, ...]) -> SegmentStep | EagerStep:
    if isinstance(item, Node):
        read = tuple(slots[value.id] for value in distinct_inputs(item))
        origin = f"{item.op} at {item.source}" if item.source else item.op
        return EagerStep(item, read, tuple(value.spec for value in item.outputs), release, origin)
    segment, backend, executable = item
    read = tuple(slots[value.id] for value in segment.arguments)
    tensors = len(read) - len(segment.scalars)
    return SegmentStep(
        segment=segment,
        backend=backend.name,
        session=backend.session,
        run=executable.run,
        turn=run_turn(backend),
        tensors=read[:tensors],
        scalars=read[tensors:],
        specs=tuple(value.spec for value in segment.outputs),
        donations=tuple(Donation(p, read[p], read[p] < inputs) for p in sorted(segment.donatable)),
        aliased=frozenset(executable.aliases),
        shared=_shared_outputs(executable.aliases, segment.donatable),
        release=release,
        origin=describe(backend.name, segment),
    )


def _shared_outputs(aliases: Mapping[int, int], donated: frozenset[int]) -> tuple[int, ...]:
    """Outputs whose declared alias lives on: all but the first in the memory of a donated input."""
    taken: set[int] = set()
    shared = []
    for output, position in sorted(aliases.items()):
        if position not in donated or position in taken:
            shared.append(output)
        taken.add(position)
    return tuple(shared)
