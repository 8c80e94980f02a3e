"""Finalizers that use the device in the middle of a call.

Python's collector runs when an object is made, so also between the moment a kernel has looked up its operands and the
moment it records the call. A finalizer that records then would be numbered behind what the unfinished call has pushed.
So that is taken back while the collector runs. If nothing was recorded, it is put in place again; else the trace ends,
which the unfinished call notices as it does when another thread ends it: it is recorded anew.
"""

from __future__ import annotations

import gc
from typing import Any

from lazycore.frontend.local import local
from lazycore.trace.node import Node
from lazycore.trace.recorder import Trace

__all__ = ["install"]


class _Unfinished:
    """What a call had pushed when the collector began."""

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        self.node: Node = trace.node
        self.scalars = trace.scalars[trace.node.nscalars :]
        known = trace.node.ninputs
        self.inputs = list(zip(trace.inputs[known:], trace.input_refs[known:], strict=True))
        trace.rollback()

    def resume(self) -> None:
        """Put it back, or end the trace that went on meanwhile."""
        trace = self.trace
        if trace.closed:
            return
        if trace.node is not self.node:
            from lazycore.frontend.sync import run_trace

            run_trace(trace, "a finalizer")
            return
        trace.scalars += self.scalars
        for value, entry in self.inputs:
            state = entry() if entry is not None else None
            if state is None:
                trace.admit_value(value)
            else:
                trace.admit(state)


_stack: list[_Unfinished] = []


def _around(phase: str, _info: dict[str, Any]) -> None:
    if phase == "start":
        _stack.append(_Unfinished(local.trace))
    elif _stack:
        _stack.pop().resume()


def install() -> None:
    """Follow the collector."""
    gc.callbacks.append(_around)
