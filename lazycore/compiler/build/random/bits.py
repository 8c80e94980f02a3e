"""From random bits to the numbers in [0, 1) that every distribution starts from. All arithmetic here is exact."""

from __future__ import annotations

from dataclasses import dataclass

from lazycore_plugin_api import DType, TensorSpec, Value

from lazycore.compiler.build.random.arithmetic import Arithmetic

__all__ = ["Bits", "DIGITS"]

DIGITS = {DType.float64: 53, DType.float32: 24, DType.float16: 11, DType.bfloat16: 8}
"""Bits of the significand: how many random bits a uniform number of the dtype can hold."""


@dataclass(frozen=True)
class Bits:
    """One draw: the bits that ``seed`` and ``offset`` (0-d int64) give to the elements of a shape."""

    math: Arithmetic
    seed: Value
    offset: Value
    size: tuple[int, ...]

    def words(self, count: int) -> tuple[Value, ...]:
        """``count`` words of 32 bits for each element, as int64."""
        spec = TensorSpec(self.size, DType.uint32)
        arguments = (self.seed, self.offset, self.size, count)
        words = self.math.writer.emit_many("lazycore.philox.default", arguments, {}, (spec,) * count)
        return tuple(self.math.writer.cast(w, DType.int64) for w in words)

    def wide(self) -> Value:
        """64 bits as int64: the second word is the upper half."""
        low, high = self.words(2)
        return self.math.add(self.math.mul(high, 1 << 32), low)

    def uniform(self, dtype: DType) -> Value:
        """In [0, 1), a multiple of 2**-digits of the dtype."""
        digits = DIGITS[dtype]
        if digits > 32:
            return self.closed53(*self.words(2))
        (word,) = self.words(1)
        whole = self.math.writer.cast(self.math.shifted(word, 32 - digits), dtype)
        return self.math.mul(whole, 2.0**-digits)

    def closed32(self, word: Value) -> Value:
        """In [0, 1), float64: a word's multiple of 2**-32."""
        return self.math.mul(self.math.double(word), 2.0**-32)

    def closed53(self, low: Value, high: Value) -> Value:
        """In [0, 1), float64: the upper 53 of 64 bits."""
        return self.math.mul(self.math.double(self._upper(low, high, 53)), 2.0**-53)

    def open32(self, word: Value) -> Value:
        """In (0, 1), float64: the middle of a word's interval."""
        return self.math.mul(self.math.add(self.math.double(word), 0.5), 2.0**-32)

    def open52(self, low: Value, high: Value) -> Value:
        """In (0, 1), float64: the middle of the interval that the upper 52 of 64 bits name."""
        return self.math.mul(self.math.add(self.math.double(self._upper(low, high, 52)), 0.5), 2.0**-52)

    def open(self, dtype: DType) -> Value:
        """In (0, 1), float64, as finely as the dtype can use."""
        return self.open52(*self.words(2)) if dtype is DType.float64 else self.open32(*self.words(1))

    def _upper(self, low: Value, high: Value, bits: int) -> Value:
        return self.math.add(self.math.mul(high, 1 << (bits - 32)), self.math.shifted(low, 64 - bits))
