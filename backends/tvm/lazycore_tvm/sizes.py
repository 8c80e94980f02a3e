"""Sizes that vary, in TVM's terms: arithmetic among themselves as the IR has it, and expressions where a kernel asks.

A kernel gets the symbols as its own parameters, in 64 bits as Relax has them, and computes positions in 32.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from lazycore_plugin_api import Dim, Segment, TensorSpec, symbol_places, with_sizes
from tvm_ffi import ObjectConvertible

from lazycore_tvm.tvm_runtime import tvm

__all__ = ["Size", "as_relax", "elements", "extent", "guess", "long", "sized", "symbol", "symbols_of"]

tir = tvm.tirx

# What a symbol counts as where only the order of magnitude matters.
_USUAL = 128


@dataclass(frozen=True, eq=False)
class Size(Dim, ObjectConvertible):  # type: ignore[misc]
    """A size that varies. Expressions can be compared and calculated with it."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Dim) and other.name == self.name

    def __hash__(self) -> int:
        return hash(self.name)

    def asobject(self) -> Any:
        """The size as an expression of a kernel."""
        return self.at({name: tir.Cast("int32", symbol(name)) for name in self.symbols})

    def __add__(self, other: Any) -> Any:
        return _or_expression(super().__add__(other), lambda: self.asobject() + other)

    def __sub__(self, other: Any) -> Any:
        return _or_expression(super().__sub__(other), lambda: self.asobject() - other)

    def __rsub__(self, other: Any) -> Any:
        return _or_expression(super().__rsub__(other), lambda: other - self.asobject())

    def __mul__(self, other: Any) -> Any:
        return _or_expression(super().__mul__(other), lambda: self.asobject() * other)

    def __radd__(self, other: Any) -> Any:
        return self + other

    def __rmul__(self, other: Any) -> Any:
        return self * other


def _or_expression(result: Any, otherwise: Any) -> Any:
    return otherwise() if result is NotImplemented else result


@cache
def symbol(name: str) -> Any:
    """The kernels' parameter for a symbol."""
    return tir.Var(name, "int64")


def sized(segment: Segment) -> Segment:
    """The segment with sizes that can be calculated with."""
    return with_sizes(segment, lambda size: Size(size.name, size.low) if isinstance(size, Dim) else size)


def symbols_of(segment: Segment) -> tuple[str, ...]:
    """The names of a segment's symbols, in the order of its inputs."""
    return tuple(symbol_places(segment))


def elements(spec: TensorSpec) -> Any:
    """The number of elements: an int, or a size that varies."""
    return math.prod(spec.shape)  # type: ignore[arg-type]


def extent(size: Any) -> Any:
    """A size as an expression of a kernel; one that is an expression stays."""
    if isinstance(size, Size):
        return size.asobject()
    return tir.const(size, "int32") if isinstance(size, int) else size


def long(size: Any) -> Any:
    """A size as an expression in 64 bits."""
    return tir.Cast("int64", extent(size)) if isinstance(size, Size) else tir.const(size, "int64")


def guess(size: Any) -> int:
    """The size's order of magnitude."""
    return int(size.at(dict.fromkeys(size.symbols, _USUAL))) if isinstance(size, Dim) else int(size)


def as_relax(size: Any, symbols: Mapping[str, Any]) -> Any:
    """A size as the program around the kernels has it."""
    return size.at(symbols) if isinstance(size, Dim) else size
