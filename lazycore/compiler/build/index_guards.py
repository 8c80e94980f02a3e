"""Index operands in range: inputs are looked at before launch, computed ones report by flags and are clamped. So do
divisors of integers, which become 1.

A backend never sees an index out of range, or an integer divided by 0: what it would do (read beyond a buffer, raise,
wrap) is nobody's promise.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from lazycore_plugin_api import DType, TensorSpec, Value

from lazycore.compiler.build.bindings import Binding, FlagCheck, InputBinding, InputCheck
from lazycore.compiler.build.emitter import NodeWriter
from lazycore.trace.call import IndexCheck

__all__ = ["IndexGuards"]


@dataclass(frozen=True)
class _Flag:
    """The smallest and the largest index of one operand."""

    low: Value
    high: Value
    check: IndexCheck
    where: str


class IndexGuards:
    """The checks of one graph. ``binding_of`` tells which graph input a value is, if it is one."""

    def __init__(self, writer: NodeWriter, binding_of: Callable[[Value], Binding | None]) -> None:
        self.writer = writer
        self.binding_of = binding_of
        self.input_checks: list[InputCheck] = []
        self._flags: list[_Flag] = []
        # One look-up often comes with another by the same index: its backward pass.
        self._guarded: dict[tuple[int, int, int, int | None], Value] = {}

    def guard(self, index: Value, check: IndexCheck, where: str) -> Value:
        """The operand to use instead of ``index``. What has no elements has none out of range, and no smallest."""
        if 0 in index.spec.shape:
            return index
        if check.nonzero:
            return self._guard_divisor(index, check, where)
        binding = self.binding_of(index)
        if isinstance(binding, InputBinding):
            self.input_checks.append(InputCheck(binding.position, check, where))
            return index
        key = (index.id, check.low, check.high, check.ignore)
        found = self._guarded.get(key)
        if found is None:
            found = self._guarded[key] = self._guard(index, check, where)
        return found

    def flag_values(self) -> list[Value]:
        """What the graph returns for the flags: two values for each."""
        return [value for flag in self._flags for value in (flag.low, flag.high)]

    def flag_checks(self, first: int) -> list[FlagCheck]:
        """The checks of the flags, whose values begin at the graph's output ``first``."""
        return [FlagCheck(first + 2 * i, flag.check, flag.where) for i, flag in enumerate(self._flags)]

    def _guard(self, index: Value, check: IndexCheck, where: str) -> Value:
        emit, spec = self.writer.emit, TensorSpec((), index.spec.dtype)
        ignored = None if check.ignore is None else self._equal(index, check.ignore)
        looked_at = index if ignored is None else self._where(ignored, self._number(check.low, spec.dtype), index)
        low = emit("aten.amin.default", (looked_at, (), False), {}, spec)
        high = emit("aten.amax.default", (looked_at, (), False), {}, spec)
        self._flags.append(_Flag(low, high, check, where))
        clamped = emit("aten.clamp.default", (index, check.low, check.high - 1), {}, index.spec)
        return clamped if ignored is None else self._where(ignored, index, clamped)

    def _guard_divisor(self, divisor: Value, check: IndexCheck, where: str) -> Value:
        """1 instead of 0: an input is not looked at before launch, as it is seldom a constant and never an address."""
        emit, spec = self.writer.emit, TensorSpec((), DType.int64)
        zero, one = self._number(0, divisor.spec.dtype), self._number(1, divisor.spec.dtype)
        differs = emit("aten.ne.Tensor", (divisor, zero), {}, TensorSpec(divisor.spec.shape, DType.bool))
        counted = self.writer.cast(differs, DType.int64)
        low = emit("aten.amin.default", (counted, (), False), {}, spec)
        high = emit("aten.amax.default", (counted, (), False), {}, spec)
        self._flags.append(_Flag(low, high, check, where))
        return self._where(differs, divisor, one)

    def _number(self, number: int, dtype: DType) -> Value:
        return self.writer.emit("aten.scalar_tensor.default", (number,), {"dtype": dtype}, TensorSpec((), dtype))

    def _equal(self, index: Value, number: int) -> Value:
        other = self._number(number, index.spec.dtype)
        return self.writer.emit("aten.eq.Tensor", (index, other), {}, TensorSpec(index.spec.shape, DType.bool))

    def _where(self, mask: Value, one: Value, other: Value) -> Value:
        return self.writer.emit("aten.where.self", (mask, one, other), {}, TensorSpec(mask.spec.shape, one.spec.dtype))
