"""Compiled traces: compiling one, and running it with what a trace has recorded."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from sys import getrefcount
from typing import Any
from weakref import WeakKeyDictionary

from lazycore_plugin_api import HostArray

from lazycore.compiler.build import Built, FlagCheck, InputBinding, InputCheck, build_graph
from lazycore.compiler.pipeline import compile_graph
from lazycore.compiler.plan import Plan
from lazycore.compiler.sizing.family import Families
from lazycore.config import config
from lazycore.frontend.arguments import Arguments
from lazycore.frontend.decompose import decompose
from lazycore.frontend.eager import run_eager
from lazycore.frontend.freezing import Freezer
from lazycore.frontend.index_bounds import check_input
from lazycore.frontend.local import RootKey, tree
from lazycore.frontend.observer import Telling, count_fallback
from lazycore.plugins.backend import LoadedBackend
from lazycore.report.explain.ledger import LEDGER
from lazycore.report.progress import compiling
from lazycore.runtime import executor
from lazycore.runtime.buffers import DeviceValue
from lazycore.trace.call import Call
from lazycore.trace.node import Node
from lazycore.trace.recorder import Trace

__all__ = ["WATCHERS", "CompiledTrace", "compile_trace", "launch"]

WATCHERS: list[Callable[[Plan, Sequence[LoadedBackend]], Plan]] = []
"""Each may put something between a new plan and its executables; it gets the backends that it was compiled for."""

# What was compiled for all sizes goes with the tree that has the traces.
_families: WeakKeyDictionary[Node, Families] = WeakKeyDictionary()


@dataclass(frozen=True)
class CompiledTrace:
    """A plan with what binds it to a trace. ``outputs``: the trace values it computes, in the plan's order."""

    plan: Plan
    outputs: tuple[int, ...]
    arguments: Arguments
    input_checks: tuple[InputCheck, ...]
    flags: tuple[FlagCheck, ...]
    donated: tuple[tuple[int, int], ...]
    """(plan input, trace input) of each input that the plan may overwrite."""
    freezer: Freezer[CompiledTrace] | None = None


def compile_trace(node: Node, outputs: Sequence[int], cause: str) -> CompiledTrace:
    """Compile the path to ``node``, where ``cause`` ended a trace, for the backends under which it began."""
    root, calls = _recorded(node)
    key: RootKey = root.key
    built = build_graph(calls, outputs)
    observer = Telling(key.backends)
    if node.plan is None:
        observer.traced(built.graph)
    observer.synced(cause)
    compiled = _compile(built, outputs, root, observer, cause)
    places = _bindable(built, compiled.plan)
    if not places:
        return compiled

    def bound(constants: Mapping[int, HostArray]) -> CompiledTrace:
        with tree.compiling:
            frozen = {places[p]: array for p, array in constants.items()}
            return _compile(built, outputs, root, observer, cause, frozen)

    return replace(compiled, freezer=Freezer(places, bound))


def _recorded(node: Node) -> tuple[Node, list[Call]]:
    path = node.path()
    root = path[0].parent
    assert root is not None
    return root, [call for step in path for call in step.calls]


def _compile(
    built: Built,
    outputs: Sequence[int],
    root: Node,
    observer: Telling,
    cause: str,
    constants: Mapping[int, HostArray] | None = None,
) -> CompiledTrace:
    key: RootKey = root.key
    names = ", ".join(backend.name for backend in key.backends)
    with compiling(f"compiling {len(built.graph.nodes)} ops for {names}"):
        plan = compile_graph(
            built.graph,
            scalars=built.scalars,
            donatable=built.donatable,
            replaced=built.replaced,
            backends=key.backends,
            decompose=decompose,
            strict=config.strict,
            observer=observer,
            constants=constants,
            # The plan without constants is at hand, so that a compile that fails with them needs no fallback.
            insist=bool(constants),
            families=_families.setdefault(root, Families()) if config.any_size else None,
            ahead=True,
        )
    plan = LEDGER.watch(plan, cause)
    for watch in WATCHERS:
        plan = watch(plan, key.backends)
    donated = tuple((p, b.position) for p in plan.donated if isinstance(b := built.bindings[p], InputBinding))
    return CompiledTrace(plan, tuple(outputs), Arguments(built.bindings), built.input_checks, built.flags, donated)


def _bindable(built: Built, plan: Plan) -> dict[int, int]:
    """Trace input -> plan input, of those that may be bound as constants: no number, and not written by the trace."""
    inputs = {p: b.position for p, b in enumerate(built.bindings) if isinstance(b, InputBinding)}
    return {inputs[p]: p for p in sorted(plan.bindable - built.donatable) if p in inputs}


def launch(compiled: CompiledTrace, trace: Trace) -> list[DeviceValue]:
    """Run a compiled trace. Raises IndexError or RuntimeError for an index input out of range, before anything runs;
    BackendError where a backend fails."""
    if compiled.freezer is not None:
        compiled = compiled.freezer.choose(compiled, trace.inputs)
    for check in compiled.input_checks:
        check_input(check, trace.inputs[check.position])
    inputs = compiled.arguments.of(trace)
    exclusive = _exclusive(compiled.donated, inputs, trace)
    eager = LEDGER.timed_eager(run_eager) if config.explain else run_eager
    return executor.run(compiled.plan, inputs, run_eager=eager, exclusive=exclusive, on_fallback=count_fallback)


def _exclusive(donated: Sequence[tuple[int, int]], inputs: list[Any], trace: Trace) -> set[int]:
    """Those plan inputs of ``donated`` whose value no storage holds but the one that is being overwritten."""
    alone = set()
    refs = trace.input_refs
    for place, position in donated:
        value = inputs[place]
        entry = refs[position]
        state = entry() if entry is not None else None
        holder = state is not None and state.trace is trace and state.value is value
        if getrefcount(value) - _OTHERS <= holder:
            alone.add(place)
    return alone


def _others() -> int:
    """References to an input while ``_exclusive`` looks at it that are not a storage's: the trace's list, the launch's,
    the loop's name and the question's own. Counted once, on a value of our own making."""
    of_trace = [object()]
    inputs = list(of_trace)
    value = inputs[0]
    return getrefcount(value)


_OTHERS = _others()
