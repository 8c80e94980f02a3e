"""Compiled traces: compiling one, and running it with what a trace has recorded."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias
from weakref import WeakKeyDictionary

import numpy as np
from lazycore_plugin_api import DType, HostArray

from lazycore.compiler.build import (
    Binding,
    Built,
    FlagCheck,
    InputBinding,
    InputCheck,
    NumberBinding,
    StartBinding,
    build_graph,
)
from lazycore.compiler.pipeline import compile_graph
from lazycore.compiler.plan import Plan
from lazycore.compiler.sizing.family import Families
from lazycore.config import config
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

__all__ = ["WATCHERS", "CompiledTrace", "bind", "compile_trace", "launch"]

WATCHERS: list[Callable[[Plan, Sequence[LoadedBackend]], Plan]] = []
"""Each may put something between a new plan and its executables; it gets the backends that it was compiled for."""


Numbers: TypeAlias = dict[tuple[float, int], HostArray]
"""A number and its dtype's identity -> the 0-d array."""

# What was compiled for all sizes goes with the tree that has the traces.
_families: WeakKeyDictionary[Node, Families] = WeakKeyDictionary()


@dataclass(frozen=True)
class CompiledTrace:
    """A plan with what binds it to a trace. ``outputs``: the trace values it computes, in the plan's order."""

    plan: Plan
    outputs: tuple[int, ...]
    bindings: tuple[Binding, ...]
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
    return CompiledTrace(plan, tuple(outputs), built.bindings, built.input_checks, built.flags, donated)


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
    numbers: Numbers = {}
    inputs = [bind(b, trace, numbers) for b in compiled.bindings]
    exclusive = frozenset(p for p, i in compiled.donated if _exclusive(trace, i, inputs[p]))
    eager = LEDGER.timed_eager(run_eager) if config.explain else run_eager
    return executor.run(compiled.plan, inputs, run_eager=eager, exclusive=exclusive, on_fallback=count_fallback)


def bind(binding: Binding, trace: Trace, numbers: Numbers) -> Any:
    """What fills an input of a plan: a value that the trace reads, or a number of its own as a 0-d array. ``numbers``:
    those that the launch has made already."""
    if type(binding) is InputBinding:
        return trace.inputs[binding.position]
    if type(binding) is NumberBinding:
        return _number(trace.scalars[binding.position], binding.dtype, numbers)
    assert type(binding) is StartBinding
    return np.asarray(trace.scalars[binding.position] // binding.divisor % binding.modulus, np.int64)


def _number(number: float, dtype: DType, numbers: Numbers) -> HostArray:
    # An optimizer has the same few numbers for each of its parameters. Equal ones are the same array in any dtype, but
    # for the two zeros.
    key = number, id(dtype)
    array = numbers.get(key) if number else None
    if array is None:
        array = numbers[key] = _array(number, dtype.numpy)
    return array


def _array(number: float, dtype: Any) -> HostArray:
    if dtype == np.float16:
        with np.errstate(over="ignore"):
            return np.asarray(number, dtype)
    try:
        return np.asarray(number, dtype)
    except OverflowError:  # wraps, as -1 does among uint8
        return np.asarray(number).astype(dtype)


# References to an input while `_exclusive` looks at it that are not a storage's: the trace's list, the bound list,
# the caller's argument, this function's parameter and getrefcount's own. Measured once, on a value of our own making.
def _count(value: Any) -> int:
    return sys.getrefcount(value)


def _exclusive(trace: Trace, position: int, value: Any) -> bool:
    """Whether no storage but the one being overwritten holds this value."""
    entry = trace.input_refs[position]
    state = entry() if entry is not None else None
    holder = 1 if state is not None and state.trace is trace and state.value is value else 0
    return _count(value) - _BASELINE <= holder


def _measure() -> int:
    class _Probe:
        pass

    trace = Trace.__new__(Trace)
    trace.inputs = [_Probe()]
    trace.input_refs = [None]
    inputs = [trace.inputs[0]]

    def probe(_trace: Trace, _position: int, value: Any) -> int:
        return _count(value)

    return probe(trace, 0, inputs[0])


_BASELINE = _measure()
