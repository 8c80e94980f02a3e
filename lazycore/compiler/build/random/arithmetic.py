"""Short names for the ops that draws are made of."""

from __future__ import annotations

from typing import TypeAlias

from lazycore_plugin_api import Argument, DType, TensorSpec, Value

from lazycore.compiler.build.emitter import NodeWriter

__all__ = ["Arithmetic", "Factor"]

Factor: TypeAlias = Value | int | float
"""A second operand: a value of the first one's dtype that broadcasts to it, or a number."""


class Arithmetic:
    """Elementwise ops over values of the shape of their first operand, which both operands broadcast to."""

    def __init__(self, writer: NodeWriter) -> None:
        self.writer = writer

    def _binary(self, name: str, x: Value, y: Factor, dtype: DType | None = None) -> Value:
        op = f"aten.{name}.{'Tensor' if isinstance(y, Value) else 'Scalar'}"
        return self.writer.emit(op, (x, y), {}, TensorSpec(x.spec.shape, dtype or x.spec.dtype))

    def _unary(self, name: str, x: Value) -> Value:
        return self.writer.emit(f"aten.{name}.default", (x,), {}, x.spec)

    def add(self, x: Value, y: Factor) -> Value:
        """x + y."""
        if isinstance(y, Value):
            return self.writer.emit("aten.add.Tensor", (x, y), {"alpha": 1}, x.spec)
        return self.writer.emit("aten.add.Scalar", (x, y, 1), {}, x.spec)

    def mul(self, x: Value, y: Factor) -> Value:
        """x * y; integers wrap around."""
        return self._binary("mul", x, y)

    def div(self, x: Value, y: Factor) -> Value:
        """x / y, of floats."""
        return self._binary("div", x, y)

    def less(self, x: Value, y: Factor) -> Value:
        """x < y."""
        return self._binary("lt", x, y, DType.bool)

    def low_half(self, x: Value) -> Value:
        """The lower 32 bits of int64."""
        return self._binary("bitwise_and", x, 0xFFFFFFFF)

    def high_half(self, x: Value) -> Value:
        """The upper 32 bits of int64, as if it had no sign."""
        return self.low_half(self.shifted(x, 32))

    def shifted(self, x: Value, bits: int) -> Value:
        """int64 shifted to the right, the sign coming in."""
        count = self.number(bits, DType.int64)
        return self.writer.emit("aten.bitwise_right_shift.Tensor", (x, count), {}, x.spec)

    def at_least(self, x: Value, y: float) -> Value:
        """The larger of the two."""
        return self.writer.emit("aten.maximum.default", (x, self.number(y, x.spec.dtype)), {}, x.spec)

    def number(self, number: Argument, dtype: DType) -> Value:
        """A number as a 0-d value."""
        return self.writer.emit("aten.scalar_tensor.default", (number,), {"dtype": dtype}, TensorSpec((), dtype))

    def neg(self, x: Value) -> Value:
        """-x."""
        return self._unary("neg", x)

    def log(self, x: Value) -> Value:
        """The natural logarithm."""
        return self._unary("log", x)

    def exp(self, x: Value) -> Value:
        """The exponential function."""
        return self._unary("exp", x)

    def sqrt(self, x: Value) -> Value:
        """The square root."""
        return self._unary("sqrt", x)

    def cos(self, x: Value) -> Value:
        """The cosine."""
        return self._unary("cos", x)

    def tan(self, x: Value) -> Value:
        """The tangent."""
        return self._unary("tan", x)

    def ceil(self, x: Value) -> Value:
        """The next whole number."""
        return self._unary("ceil", x)

    def double(self, x: Value) -> Value:
        """x in float64."""
        return self.writer.cast(x, DType.float64)
