"""This thread's open trace. Kernels read ``local.trace`` on every op, so it is one attribute and nothing more."""

from __future__ import annotations

import threading
from typing import NamedTuple

import torch

from lazycore.config import config
from lazycore.plugins.backend import LoadedBackend
from lazycore.plugins.selection import current
from lazycore.trace.recorder import Recorder, Trace
from lazycore.trace.tree import Tree

__all__ = ["RootKey", "fresh_trace", "leave", "leave_root", "local", "tree"]

tree = Tree()


class RootKey(NamedTuple):
    """Everything a compiled trace depends on besides its calls. ``backends`` are the ones that compile and run it."""

    backends: tuple[LoadedBackend, ...]
    default_dtype: torch.dtype
    deterministic: bool
    precision: str
    rng: str


def _root_key() -> RootKey:
    return RootKey(
        current(),
        torch.get_default_dtype(),
        torch.are_deterministic_algorithms_enabled(),
        torch.get_float32_matmul_precision(),
        config.rng,
    )


def _unopened(recorder: Recorder) -> Trace:
    # A root that is full from the start: the first op ends this trace and so opens one under the key of then. Looking
    # the key up here would load a backend at import.
    return Trace(tree, tree.unopened, recorder)


class _Local(threading.local):
    trace: Trace

    def __init__(self) -> None:
        self.recorder = Recorder()
        self.trace = _unopened(self.recorder)


local = _Local()


def leave_root() -> None:
    """Have no trace open in this thread, whose last one has ended: the next op opens one under the settings of then."""
    local.trace = _unopened(local.recorder)


def fresh_trace() -> Trace:
    """Open a new trace in this thread and return the one that was open, closed."""
    old = local.trace
    old.closed = True
    local.trace = Trace(tree, tree.root(_root_key()), local.recorder)
    return old


def leave(trace: Trace) -> None:
    """Another thread closed a trace in the middle of a call: forget what the call pushed, and record it anew in a fresh
    trace."""
    trace.rollback()
    if local.trace is trace:
        fresh_trace()
