"""Recording: the open trace of a thread, and what happens where a key is not known."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from typing import Any, Final
from weakref import ReferenceType, ref

from lazycore.trace.keys import masked
from lazycore.trace.node import Node
from lazycore.trace.state import StorageState
from lazycore.trace.tree import Tree

__all__ = ["FULL", "Recorder", "Trace"]


class _Full:
    """What ``Trace.grow`` returns where a barrier must come first."""


FULL: Final = _Full()


class Trace:
    """One trace being recorded: a position in the tree and the run-time things that its path needs."""

    __slots__ = (
        "closed", "input_refs", "inputs", "node", "ran", "recorder", "refs", "scalars", "stream", "tree", "twin",
    )  # fmt: skip

    def __init__(self, tree: Tree, root: Node, recorder: Recorder) -> None:
        self.tree = tree
        self.node = root
        self.recorder = recorder
        self.inputs: list[Any] = []
        self.input_refs: list[ReferenceType[StorageState] | None] = []
        self.scalars: list[bool | int | float] = []
        # Where the frontend's random generator stands among the scalars; opaque here.
        self.stream: Any = None
        # Weak: a strong reference would keep every intermediate of the program alive and make all of them outputs.
        self.refs: list[ReferenceType[StorageState]] = []
        # The node that stands where ``node`` stands on the path this trace left by literals alone.
        self.twin: Node | None = None
        # Another thread may close the trace between a call's key and its record: whoever records looks last at this,
        # and then changes the trace without giving way to other threads.
        self.closed = False
        self.ran = False

    def admit(self, state: StorageState) -> None:
        """Make a materialized storage a trace input. Until the call is recorded this can be rolled back."""
        # Made first: making it may run finalizers, which must not find the two lists of different lengths.
        entry = ref(state)
        state.index = ~len(self.inputs)
        state.trace = self
        if not state.viewed:
            state.fast = self
        self.inputs.append(state.value)
        self.input_refs.append(entry)

    def admit_value(self, value: Any) -> None:
        """Make a value that belongs to no storage a trace input."""
        self.inputs.append(value)
        self.input_refs.append(None)

    def rollback(self) -> None:
        """Forget what an unfinished call pushed."""
        node = self.node
        del self.scalars[node.nscalars :]
        for entry in self.input_refs[node.ninputs :]:
            state = entry() if entry is not None else None
            if state is not None and state.trace is self:
                state.fast = state.trace = None
        del self.input_refs[node.ninputs :]
        del self.inputs[node.ninputs :]

    def grow(self, key: Any, make: Callable[[Any], Node]) -> Node | _Full:
        """The node for a key that ``node.children`` does not have.

        ``make`` builds it for the key it is given (which may be the masked one), unattached. Returns FULL, with the
        unfinished call rolled back, where a barrier must come first.
        """
        tree, here = self.tree, self.node
        mask = masked(key)
        with tree.lock:
            found = here.children.get(key) or (tree.lifted(here, mask) if mask != key else None)
            if found is not None:
                return found
            if tree.full(here):
                self.rollback()
                return FULL
            counts = len(self.inputs), len(self.scalars)
            child = make(self._key_to_grow(key, mask))
            child.ninputs, child.nscalars = counts
            # A finalizer may have recorded meanwhile: then the node was not made for this place.
            if self.closed or self.node is not here or not tree.adopt(here, child):
                self.rollback()
                return FULL
        return child

    def _key_to_grow(self, key: Any, mask: Any) -> Any:
        """The key itself, or the masked one where the call differs in nothing but literals from a known one: all
        literals that differ from that path are lifted in this one trace, the ones that still agree stay exact."""
        if self.twin is not None:
            self.twin = self.twin.children.get(key) or self.twin.masked.get(mask)
            return key if self.twin is None or self.twin.key == key else mask
        self.twin = self.tree.sibling(self.node, mask)
        return key if self.twin is None else mask


class Recorder:
    """A thread's recorder: ``trace`` is the open one. ``lock`` is held while a trace of this thread is executed.

    ``flags``: reports of launched work that nobody has read, opaque here; ``error``: the first one read that was bad.
    ``pieces``: the ends of the traces since the last barrier that the program asked for.
    """

    __slots__ = ("__weakref__", "backward", "error", "flags", "lock", "pieces", "thread", "trace")

    trace: Trace

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.thread = threading.get_ident()
        self.backward = 0
        # Bounded: a program may never ask for a barrier, and long stretches are not judged anyway.
        self.pieces: deque[Node] = deque(maxlen=64)
        self.flags: deque[Any] = deque()
        self.error: Exception | None = None
