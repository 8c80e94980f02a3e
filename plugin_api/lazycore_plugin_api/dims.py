"""Sizes that vary from run to run: symbols, and sums of products of symbols."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from math import prod
from typing import Any, Self, TypeAlias

__all__ = ["Dim", "Terms"]

Terms: TypeAlias = tuple[tuple[int, tuple[str, ...]], ...]
"""A sum of products: (factor, symbols) for each."""

_SYMBOL = re.compile(r"[A-Za-z_]\w*")
_TERM = re.compile(r"([+-]?)((?:\d+|[A-Za-z_]\w*)(?:\*(?:\d+|[A-Za-z_]\w*))*)")


@dataclass(frozen=True)
class Dim:
    """A size that varies from run to run. Only backends with ``Capabilities.dynamic_dims`` ever see one.

    ``name`` is a symbol such as ``n``, or a sum of products of symbols and integers such as ``4*n*m+n-1``, in which
    form it prints; a constant one is no Dim. Dims of one name are equal. The size is between ``low`` and ``high``. Dims
    and integers can be added, subtracted and multiplied: what no longer varies is an int, all else of the class of the
    first Dim. Raises ValueError for a name of another form.
    """

    name: str
    low: int = field(default=0, compare=False)
    high: int | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        if not _SYMBOL.fullmatch(self.name):
            terms = _parsed(self.name)
            if not any(symbols for _, symbols in terms):
                raise ValueError(f"{self.name!r} is no size that varies")
            object.__setattr__(self, "name", _text(terms))

    @property
    def terms(self) -> Terms:
        """The sum's products, those of most symbols first: ``4*n*m-1`` is ``((4, ("m", "n")), (-1, ()))``."""
        return _parsed(self.name)

    @property
    def is_symbol(self) -> bool:
        """Whether it is a symbol alone."""
        return _SYMBOL.fullmatch(self.name) is not None

    @property
    def symbols(self) -> frozenset[str]:
        """The symbols that it depends on."""
        return frozenset(name for _, names in self.terms for name in names)

    def at(self, sizes: Mapping[str, Any]) -> Any:
        """The size where symbols have these values: integers, or whatever can be added and multiplied by them, such as
        a compiler's own symbols. Raises KeyError for a symbol without value."""
        products = [prod((sizes[n] for n in names), start=factor) if names else factor for factor, names in self.terms]
        return sum(products[1:], start=products[0])

    # What is no size may know how to calculate with one.
    def __add__(self, other: int | Dim) -> int | Self:
        return self._sum((*self.terms, *_terms(other))) if isinstance(other, int | Dim) else NotImplemented

    def __sub__(self, other: int | Dim) -> int | Self:
        return self + other * -1 if isinstance(other, int | Dim) else NotImplemented

    def __rsub__(self, other: int) -> int | Self:
        return self * -1 + other if isinstance(other, int) else NotImplemented

    def __mul__(self, other: int | Dim) -> int | Self:
        if not isinstance(other, int | Dim):
            return NotImplemented
        return self._sum((a * b, (*x, *y)) for a, x in self.terms for b, y in _terms(other))

    __radd__ = __add__
    __rmul__ = __mul__

    def _sum(self, terms: Iterable[tuple[int, tuple[str, ...]]]) -> int | Self:
        kept = _collected(terms)
        if not kept:
            return 0
        return type(self)(_text(kept)) if kept[0][1] else kept[0][0]

    def __str__(self) -> str:
        return self.name


def _terms(size: int | Dim) -> Terms:
    return size.terms if isinstance(size, Dim) else ((size, ()),)


def _collected(terms: Iterable[tuple[int, tuple[str, ...]]]) -> Terms:
    """Equal products added up, in the one order: by the number of symbols, then by their names."""
    totals: Counter[tuple[str, ...]] = Counter()
    for factor, names in terms:
        totals[tuple(sorted(names))] += factor
    ordered = sorted(totals, key=lambda names: (-len(names), names))
    return tuple((totals[names], names) for names in ordered if totals[names])


def _text(terms: Terms) -> str:
    text = "".join(f"{'-' if factor < 0 else '+'}{'*'.join(_factors(abs(factor), names))}" for factor, names in terms)
    return text.removeprefix("+")


def _factors(factor: int, names: tuple[str, ...]) -> Iterator[str]:
    if factor != 1 or not names:
        yield str(factor)
    yield from names


@lru_cache(4096)
def _parsed(name: str) -> Terms:
    terms: list[tuple[int, tuple[str, ...]]] = []
    at = 0
    while at < len(name) or not terms:
        found = _TERM.match(name, at)
        if found is None or (terms and not found[1]):
            raise ValueError(f"{name!r} is no sum of products of symbols and integers")
        factors = found[2].split("*")
        number = prod(int(f) for f in factors if f.isdigit())
        terms.append((-number if found[1] == "-" else number, tuple(f for f in factors if not f.isdigit())))
        at = found.end()
    return _collected(terms)
