"""From sizes as they were seen to symbolic ones: what varies becomes symbols, and expressions of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations_with_replacement, product
from typing import TypeAlias

from lazycore_plugin_api import Dim

__all__ = ["FEWEST", "generalized"]

Column: TypeAlias = tuple[int, ...]
"""One size as it was in each sample."""

FEWEST = 2
"""The smallest size that a symbol stands for: 0 and 1 compute differently, as they make nothing or broadcast."""
_DEGREE, _MANY = 3, 64
"""As many symbols as a product may have: batch, heads and length are multiplied in attention, seldom more. From so many
products on, larger ones are not tried."""


def generalized(samples: Sequence[Sequence[int]], inputs: int) -> list[int | Dim] | None:
    """The sizes that all samples are instances of, or None where no expression is found for one of them.

    ``samples``: the same places' sizes, in each of at least two programs; the first ``inputs`` places are the inputs'.
    Sizes that never differ stay numbers. Equal columns get equal expressions. The result holds for the samples; for
    other sizes it is a guess, and whoever uses it compares.
    """
    columns = list(zip(*samples, strict=True))
    known = _Known(dict.fromkeys(columns[:inputs]))
    found = {column: known.expression(column) for column in dict.fromkeys(columns)}
    sizes = [size for column in columns if (size := found[column]) is not None]
    return sizes if len(sizes) == len(columns) else None


class _Known:
    """The symbols, from the inputs' sizes: the smaller a size, the likelier it is that others are made of it."""

    def __init__(self, inputs: dict[Column, None]) -> None:
        self.products: dict[Column, Dim] = {}
        self.symbols: dict[Column, Dim] = {}
        for column in sorted(inputs, key=lambda column: (sum(column), column)):
            if _varies(column) and self._multiple(column) is None:
                self._add(column)

    def _add(self, column: Column) -> None:
        self.symbols[column] = Dim(f"s{len(self.symbols)}", FEWEST)
        self.products = {}
        for degree in range(1, _DEGREE + 1):
            if len(self.products) > _MANY:
                return
            for factors in combinations_with_replacement(self.symbols.items(), degree):
                value: Column = (1,) * len(column)
                size: int | Dim = 1
                for own, symbol in factors:
                    value = tuple(a * b for a, b in zip(value, own, strict=True))
                    size = symbol * size
                self.products.setdefault(value, _bounded(size))

    def expression(self, column: Column) -> int | Dim | None:
        """A number for a column that is one number, else the simplest expression that fits."""
        if not _varies(column):
            return column[0]
        exact = self._multiple(column)
        found = [size for size in self._candidates(column) if size is not None] if exact is None else [exact]
        return _bounded(min(found, key=_complexity)) if found else None

    def _candidates(self, column: Column) -> Iterator[int | Dim | None]:
        yield from (_linear(column, value, size) for value, size in self.products.items())
        yield from self._sums(column)

    def _multiple(self, column: Column) -> int | Dim | None:
        """A product of symbols, times a number."""
        for value, size in self.products.items():
            factor = column[0] // value[0]
            if factor and column == tuple(factor * v for v in value):
                return size * factor
        return None

    def _sums(self, column: Column) -> Iterator[int | Dim | None]:
        """A product and a symbol, added or subtracted, and a number."""
        for (a, x), (b, y) in product(self.products.items(), self.symbols.items()):
            if a != b:
                yield _shifted(column, tuple(map(sum, zip(a, b, strict=True))), x + y)
                yield _shifted(column, tuple(p - q for p, q in zip(a, b, strict=True)), x - y)


def _varies(column: Column) -> bool:
    return any(size != column[0] for size in column)


def _shifted(column: Column, value: Column, size: int | Dim) -> int | Dim | None:
    offset = column[0] - value[0]
    return size + offset if column == tuple(v + offset for v in value) else None


def _linear(column: Column, value: Column, size: Dim) -> int | Dim | None:
    """A whole multiple of a product, and a number."""
    i = next((i for i, v in enumerate(value) if v != value[0]), 0)
    step = value[i] - value[0]
    factor, rest = divmod(column[i] - column[0], step) if step else (0, 1)
    return None if rest or factor < 1 else _shifted(column, tuple(factor * v for v in value), size * factor)


def _complexity(size: int | Dim) -> int:
    return sum(abs(factor) for factor, _ in size.terms) if isinstance(size, Dim) else 0


def _bounded(size: int | Dim) -> Dim:
    assert isinstance(size, Dim)
    return Dim(size.name, FEWEST)
