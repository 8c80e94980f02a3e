"""Barriers: ending a trace, running it, and settling the storages that wait for it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from lazycore_plugin_api import LazycoreError

from lazycore.frontend import in_flight
from lazycore.frontend.flags import check_flags, watch_flags
from lazycore.frontend.local import fresh_trace, local, tree
from lazycore.report.metrics import METRICS
from lazycore.report.recompiles import warn_of
from lazycore.trace.node import Node
from lazycore.trace.recorder import Trace
from lazycore.trace.state import StorageState

# The compiler is imported by the first barrier that needs it: a program that only imports lazycore does not pay for it.
if TYPE_CHECKING:
    from lazycore.frontend.launch import CompiledTrace

__all__ = ["barrier", "flush", "observe", "run_trace", "wait_all"]


def barrier(cause: str) -> None:
    """End this thread's trace and launch it. Returns when it is launched, not when it has ended."""
    recorder = local.recorder
    if recorder.pieces:
        tree.judge([*recorder.pieces, local.trace.node])
        recorder.pieces.clear()
    run_trace(local.trace, cause)


def flush() -> None:
    """A barrier that the program does not ask for, as nothing more can be recorded after the trace's last node."""
    trace = local.trace
    if trace.node.depth:
        local.recorder.pieces.append(trace.node)
    run_trace(trace, "a full trace")


def observe(cause: str) -> None:
    """A barrier at which the program looks at values: also raises what launched work has found out of range."""
    barrier(cause)
    check_flags()


def wait_all() -> None:
    """Run what this thread has recorded and wait for everything launched."""
    observe("a synchronization")
    in_flight.end_all()


def run_trace(trace: Trace, cause: str) -> None:
    """End a trace, of this thread or another one, and launch it."""
    with trace.recorder.lock:
        if trace is local.trace:
            fresh_trace()
        if trace.ran:
            return
        trace.closed = trace.ran = True
        node = trace.node
        live = _live(trace, node)
        _release_inputs(trace)
        if node.depth:
            METRICS.ops_recorded += node.depth
        if not live:
            tree.touch(node)
            return
        METRICS.syncs += 1
        shared = METRICS.shared, METRICS.compiles
        try:
            _settle(trace, node, live, cause)
        except BaseException as error:
            _fail(trace, live, error)
            raise
    # Last, as a program may have made warnings errors: everything is settled.
    if tree.recurring:
        warn_of(tree.recurring, compiled=METRICS.shared == shared[0] or METRICS.compiles != shared[1])


def _live(trace: Trace, node: Node) -> dict[int, StorageState]:
    """The storages that still wait for this trace, by value. One past the node's values belongs to a call of another
    thread that came too late to be recorded, and is made anew."""
    known = node.nvalues
    found = [state for entry in trace.refs if (state := entry()) is not None and state.trace is trace]
    return {state.index: state for state in found if 0 <= state.index < known}


def _release_inputs(trace: Trace) -> None:
    for entry in trace.input_refs:
        state = entry() if entry is not None else None
        if state is not None and state.trace is trace and state.index < 0:
            state.fast = state.trace = None


def _settle(trace: Trace, node: Node, live: Mapping[int, StorageState], cause: str) -> None:
    from lazycore.frontend.launch import launch

    compiled = _plan_for(node, frozenset(live), cause)
    results = launch(compiled, trace)
    for index, value in zip(compiled.outputs, results, strict=False):
        state = live.get(index)
        # Another thread may have given it a newer value meanwhile.
        if state is not None and state.trace is trace:
            state.settle(value)
    if compiled.flags:
        flags = [(flag, results[flag.output], results[flag.output + 1]) for flag in compiled.flags]
        watch_flags(trace.recorder, flags)
    in_flight.add(compiled.plan.witnesses, results)


def _plan_for(node: Node, live: frozenset[int], cause: str) -> CompiledTrace:
    """The node's plan if it serves all live values, else a new one for every value that was live here so far."""
    from lazycore.frontend.launch import compile_trace

    with tree.compiling:
        compiled: CompiledTrace | None = node.plan
        if compiled is not None and live <= node.seen:
            METRICS.cache_hits += 1
        else:
            METRICS.traces += compiled is None
            wanted = node.seen | live
            compiled = node.plan = compile_trace(node, sorted(wanted), cause)
            node.seen = wanted
        tree.touch(node)
    return compiled


def _fail(trace: Trace, live: Mapping[int, StorageState], error: BaseException) -> None:
    """Storages that held a value before keep it; the others raise the error when they are observed."""
    for state in live.values():
        if state.trace is not trace:
            continue
        if state.value is not None and not state.value.deleted:
            state.settle(state.value)
        else:
            state.poison(error if isinstance(error, Exception) else LazycoreError(f"interrupted by {error!r}"))
