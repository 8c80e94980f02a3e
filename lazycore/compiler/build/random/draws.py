"""Each distribution in terms of bits and ordinary ops.

Everything between the bits and the result is computed in float64 or int64 and rounded once, so that backends whose
logarithms differ in the last place agree on the results of 32 and fewer bits.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import pi
from typing import TypeAlias

from lazycore_plugin_api import Argument, DType, TensorSpec, Value

from lazycore.compiler.build.emitter import NodeWriter
from lazycore.compiler.build.random.arithmetic import Arithmetic, Factor
from lazycore.compiler.build.random.bits import Bits

__all__ = ["DRAWS", "Expansion"]

Expansion: TypeAlias = Callable[[NodeWriter, Sequence[Argument], Sequence[TensorSpec]], tuple[Value, ...]]
"""Writes a draw's nodes. Arguments: seed and offset (0-d int64 values), how many draws the offset lies further on, then
the distribution's own, each a number, a 0-d value or a tensor."""

_Distribution: TypeAlias = Callable[..., Value]


def _drawn(distribution: _Distribution) -> Expansion:
    """A distribution ``(bits, dtype, *parameters)`` of one result, which is rounded to that result's dtype."""

    def expand(writer: NodeWriter, args: Sequence[Argument], specs: Sequence[TensorSpec]) -> tuple[Value, ...]:
        (spec,) = specs
        bits = _bits(writer, args, spec)
        return (writer.cast(distribution(bits, spec.dtype, *args[3:]), spec.dtype),)

    return expand


def _bits(writer: NodeWriter, args: Sequence[Argument], spec: TensorSpec) -> Bits:
    seed, offset, further = args[:3]
    assert isinstance(seed, Value)
    assert isinstance(offset, Value)
    assert isinstance(further, int)
    math = Arithmetic(writer)
    return Bits(math, seed, math.add(offset, further) if further else offset, spec.static_shape)


def _factor(bits: Bits, parameter: Factor) -> Factor:
    return bits.math.double(parameter) if isinstance(parameter, Value) else float(parameter)


def _scaled(bits: Bits, x: Value, scale: Factor, shift: Factor) -> Value:
    """x * scale + shift, in float64."""
    return bits.math.add(bits.math.mul(x, _factor(bits, scale)), _factor(bits, shift))


def _uniform(bits: Bits, dtype: DType, low: Factor, width: Factor) -> Value:
    unit = bits.uniform(dtype)
    if low == 0.0 and width == 1.0:
        return unit
    return _scaled(bits, bits.math.double(unit), width, low)


def _standard_normal(bits: Bits, dtype: DType) -> Value:
    """Box and Muller's transform; the sine that would make a second number is not used, so that elements do not hang
    together in pairs."""
    math = bits.math
    if dtype is DType.float64:
        words = bits.words(4)
        radius, angle = bits.open52(*words[:2]), bits.closed53(*words[2:])
    else:
        first, second = bits.words(2)
        radius, angle = bits.open32(first), bits.closed32(second)
    return math.mul(math.sqrt(math.mul(math.log(radius), -2.0)), math.cos(math.mul(angle, 2.0 * pi)))


def _normal(bits: Bits, dtype: DType, mean: Factor, std: Factor) -> Value:
    return _scaled(bits, _standard_normal(bits, dtype), std, mean)


def _log_normal(bits: Bits, dtype: DType, mean: Factor, std: Factor) -> Value:
    return bits.math.exp(_normal(bits, dtype, mean, std))


def _exponential(bits: Bits, dtype: DType, rate: Factor) -> Value:
    return bits.math.div(bits.math.neg(bits.math.log(bits.open(dtype))), _factor(bits, rate))


def _cauchy(bits: Bits, dtype: DType, median: Factor, sigma: Factor) -> Value:
    angle = bits.math.mul(bits.math.add(bits.open(dtype), -0.5), pi)
    return _scaled(bits, bits.math.tan(angle), sigma, median)


def _geometric(bits: Bits, dtype: DType, log_failure: Factor) -> Value:  # noqa: ARG001
    trials = bits.math.div(bits.math.log(bits.open(DType.float64)), _factor(bits, log_failure))
    return bits.math.at_least(bits.math.ceil(trials), 1.0)


def _success(bits: Bits, probability: Factor) -> Value:
    return bits.math.less(bits.closed32(*bits.words(1)), _factor(bits, probability))


def _bernoulli(bits: Bits, dtype: DType, probability: Factor) -> Value:  # noqa: ARG001
    return _success(bits, probability)


def _integers(bits: Bits, dtype: DType, low: Factor, span_low: Factor, span_high: int) -> Value:  # noqa: ARG001
    """``low + floor(64 bits * span / 2**64)``. The product is made in halves, each below 2**64, so that int64's
    wrapping around loses nothing; ``span_high`` is 2**32 where every int64 may come."""
    math = bits.math
    b0, b1 = bits.words(2)
    low_low, high_low = math.mul(b0, span_low), math.mul(b1, span_low)
    if not span_high:
        drawn = math.high_half(math.add(high_low, math.high_half(low_low)))
    else:
        low_high, high_high = math.mul(b0, span_high), math.mul(b1, span_high)
        carry = math.add(math.add(math.high_half(low_low), math.low_half(low_high)), math.low_half(high_low))
        upper = math.add(math.high_half(low_high), math.high_half(high_low))
        drawn = math.add(math.add(high_high, upper), math.high_half(carry))
    return math.add(drawn, low)


def _permutation(bits: Bits, dtype: DType) -> Value:  # noqa: ARG001
    """The order that sorts 64 bits per element; equal ones stay in their order."""
    keys = bits.wide()
    options: dict[str, Argument] = {"stable": True, "dim": 0, "descending": False}
    return bits.math.writer.emit_many("aten.sort.stable", (keys,), options, (keys.spec, keys.spec))[1]


def _dropout(writer: NodeWriter, args: Sequence[Argument], specs: Sequence[TensorSpec]) -> tuple[Value, ...]:
    """x * (mask * scale), and the mask of what is kept."""
    x, keep, scale = args[3:]
    assert isinstance(x, Value)
    assert isinstance(keep, (Value, int, float))
    assert isinstance(scale, (Value, int, float))
    bits = _bits(writer, args, specs[1])
    mask = _success(bits, keep)
    factor = writer.cast(scale, x.spec.dtype) if isinstance(scale, Value) else scale
    noise = bits.math.mul(writer.cast(mask, x.spec.dtype), factor)
    return bits.math.mul(x, noise), mask


DRAWS: dict[str, Expansion] = {
    "lazycore.uniform.default": _drawn(_uniform),
    "lazycore.normal.default": _drawn(_normal),
    "lazycore.log_normal.default": _drawn(_log_normal),
    "lazycore.exponential.default": _drawn(_exponential),
    "lazycore.cauchy.default": _drawn(_cauchy),
    "lazycore.geometric.default": _drawn(_geometric),
    "lazycore.bernoulli.default": _drawn(_bernoulli),
    "lazycore.integers.default": _drawn(_integers),
    "lazycore.permutation.default": _drawn(_permutation),
    "lazycore.dropout.default": _dropout,
}
"""The op of a recorded draw -> how it is written out. None of these names is ever in a graph."""
