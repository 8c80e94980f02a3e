"""This thread's open trace. Kernels read ``local.trace`` on every op, so it is one attribute and nothing more."""

from __future__ import annotations

import threading
from collections.abc import Hashable

import torch

from lazycore.plugins.selection import selection_key
from lazycore.trace.recorder import Recorder, Trace
from lazycore.trace.tree import Tree

__all__ = ["fresh_trace", "local", "tree"]

tree = Tree()


def _root_key() -> Hashable:
    # Everything a compiled trace depends on besides its calls.
    return (
        selection_key(),
        torch.get_default_dtype(),
        torch.are_deterministic_algorithms_enabled(),
        torch.get_float32_matmul_precision(),
    )


class _Local(threading.local):
    trace: Trace

    def __init__(self) -> None:
        self.recorder = Recorder()
        # A root that is full from the start: the first op ends this trace and so opens one under the real key. Looking
        # the key up here would load a backend at import.
        self.trace = Trace(tree, tree.unopened, self.recorder)


local = _Local()


def fresh_trace() -> Trace:
    """Open a new trace in this thread and return the one that was open, closed."""
    old = local.trace
    old.closed = True
    local.trace = Trace(tree, tree.root(_root_key()), local.recorder)
    return old
