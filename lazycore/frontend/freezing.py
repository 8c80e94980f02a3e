"""Frozen inputs: when a trace's input counts as constant, and which of a trace's plans a launch takes.

Only for backends that ask for it (``BackendInfo.constants``). The rule: an input that was the very same value, an
object that nobody writes, in ``PATIENCE`` launches of the trace in a row is frozen, and a second plan is compiled in
which the frozen inputs are bound. A launch takes that plan exactly if each of them still is the value that was bound: a
weight that was written, or another model that shares the trace, brings other values. Then the bound plan is dropped,
the plan without constants runs as before, and it takes twice as many equal launches until the next try.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Generic, TypeVar
from weakref import ReferenceType, ref

import numpy as np
from lazycore_plugin_api import HostArray, LazycoreError

from lazycore.compiler.failures import BackendWarning
from lazycore.runtime.buffers import DeviceValue

__all__ = ["PATIENCE", "Freezer"]

PATIENCE = 3
"""Equal launches before an input counts as frozen."""

T = TypeVar("T")
"""A compiled trace; which of two runs is decided here, not what it is."""


class Freezer(Generic[T]):
    """Watches the launches of one trace. ``positions``: its inputs that may be bound; ``compile_bound`` makes the
    plan in which those given (position -> content) are."""

    def __init__(self, positions: Collection[int], compile_bound: Callable[[Mapping[int, HostArray]], T]) -> None:
        self._positions = tuple(positions)
        self._compile = compile_bound
        self._seen: dict[int, tuple[ReferenceType[DeviceValue], int]] = {}
        self._patience = PATIENCE
        self._bound: _Bound[T] | None = None

    def choose(self, plain: T, inputs: Sequence[DeviceValue]) -> T:
        """The plan for a launch with these inputs of the trace: the bound one where it is right, else ``plain``."""
        bound = self._bound
        if bound is not None:
            if bound.fits(inputs):
                return bound.compiled
            self._bound = None
            self._patience *= 2
        frozen = self._watch(inputs)
        return self._bind(plain, inputs, frozen) if frozen else plain

    def _watch(self, inputs: Sequence[DeviceValue]) -> list[int]:
        """Count this launch; the inputs that are frozen now."""
        for position in self._positions:
            last, count = self._seen.get(position, (None, 0))
            same = last is not None and last() is inputs[position]
            self._seen[position] = (last, count + 1) if last is not None and same else (ref(inputs[position]), 1)
        return [p for p, (_, count) in self._seen.items() if count > self._patience]

    def _bind(self, plain: T, inputs: Sequence[DeviceValue], frozen: Sequence[int]) -> T:
        self._seen.clear()
        try:
            # Copies: the values' own memory goes to another trace when that overwrites a weight.
            compiled = self._compile({p: np.array(inputs[p].to_host(), copy=True) for p in frozen})
        except LazycoreError as error:
            warnings.warn(f"{error}; its inputs stay unbound", BackendWarning, stacklevel=2)
            self._positions = ()
            return plain
        self._bound = _Bound(compiled, {p: ref(inputs[p], self._release) for p in frozen})
        return compiled

    def _release(self, _gone: ReferenceType[DeviceValue]) -> None:
        # Nobody can launch with that value again, so the plan and the copies in it are of no use.
        self._bound = None


class _Bound(Generic[T]):
    """A plan and the values that are bound in it."""

    def __init__(self, compiled: T, values: Mapping[int, ReferenceType[DeviceValue]]) -> None:
        self.compiled = compiled
        self._values = tuple(values.items())

    def fits(self, inputs: Sequence[DeviceValue]) -> bool:
        return all(value() is inputs[position] for position, value in self._values)
