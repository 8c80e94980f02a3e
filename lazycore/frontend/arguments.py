"""What fills the inputs of a plan from a trace: the values that it reads, and the numbers that it was given."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from lazycore_plugin_api import DType, HostArray

from lazycore.compiler.build import Binding, InputBinding, NumberBinding, StartBinding
from lazycore.trace.recorder import Trace

__all__ = ["Arguments"]

_Numbers: TypeAlias = dict[tuple[float, int], HostArray]
"""A number and its dtype's identity -> the 0-d array."""


class Arguments:
    """The inputs of one plan. A launch has hundreds, so each is sorted beforehand: all are picked in one go from the
    trace's inputs and, counted from the end, the numbers."""

    def __init__(self, bindings: Sequence[Binding]) -> None:
        self._numbers = [b for b in bindings if not isinstance(b, InputBinding)]
        behind = iter(range(-len(self._numbers), 0))
        self._places = [b.position if isinstance(b, InputBinding) else next(behind) for b in bindings]

    def of(self, trace: Trace) -> list[Any]:
        """One per plan input: a value of the trace, or a number as a 0-d array."""
        known: _Numbers = {}
        given = trace.inputs + [_filled(binding, trace, known) for binding in self._numbers]
        return list(map(given.__getitem__, self._places))


def _filled(binding: NumberBinding | StartBinding, trace: Trace, known: _Numbers) -> HostArray:
    number = trace.scalars[binding.position]
    if type(binding) is NumberBinding:
        return _number(number, binding.dtype, known)
    assert type(binding) is StartBinding
    return np.asarray(number // binding.divisor % binding.modulus, np.int64)


def _number(number: float, dtype: DType, known: _Numbers) -> HostArray:
    # An optimizer has the same few numbers for each of its parameters. Equal ones are the same array in any dtype, but
    # for the two zeros.
    key = number, id(dtype)
    array = known.get(key) if number else None
    if array is None:
        array = known[key] = _array(number, dtype.numpy)
    return array


def _array(number: float, dtype: Any) -> HostArray:
    if dtype == np.float16:
        with np.errstate(over="ignore"):
            return np.asarray(number, dtype)
    try:
        return np.asarray(number, dtype)
    except OverflowError:  # wraps, as -1 does among uint8
        return np.asarray(number).astype(dtype)
