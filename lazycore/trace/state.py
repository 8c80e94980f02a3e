"""What a storage holds: a materialized value, or a place in a trace that has not run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lazycore.trace.kept_errors import frameless
from lazycore.trace.layout import Layout

if TYPE_CHECKING:
    from lazycore.trace.recorder import Trace

__all__ = ["StorageState"]


class StorageState:
    """The state of one storage. It never references a tensor: such a cycle would never be collected.

    ``trace``: the open trace that knows the storage, else None, and ``index`` its value there: a call's output
    counts from 0, a trace input is ``~position``. ``fast`` is the same trace while no view of the storage exists,
    so that one identity test tells a hot kernel "pending here, and every tensor on it has the base's geometry".
    ``value``: the last materialized content (a runtime value, opaque here); ``error``: why there is none.
    """

    # Class attributes rather than __init__: a hot kernel sets only what differs.
    fast: Trace | None = None
    trace: Trace | None = None
    index: int = 0
    layout: Layout
    value: Any = None
    error: BaseException | None = None
    viewed: bool = False

    def mark_viewed(self) -> None:
        """From now on tensors on this storage may have another geometry than its base."""
        self.viewed = True
        self.fast = None

    def settle(self, value: Any) -> None:
        """Become materialized."""
        self.fast = self.trace = self.error = None
        self.value = value

    def poison(self, error: BaseException) -> None:
        """Become an error that the next observation raises."""
        self.fast = self.trace = self.value = None
        self.error = frameless(error)
