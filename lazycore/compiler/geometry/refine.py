"""Refinement: cut memory into levels, a mixed radix, such that the view is a window of each level.

A level of extent ``e`` at place ``p`` counts ``offset // p % e``. Levels multiply up to the whole memory. Finding
them is choosing places that divide one another, and the strides of the view.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from math import gcd

from lazycore.compiler.geometry.layout import Axes, Axis, span

__all__ = ["Level", "levels", "split_at"]


@dataclass(frozen=True, slots=True)
class Level:
    """One digit of the mixed radix, and the view's window on it: ``count`` elements, ``step`` apart, from ``start``."""

    place: int
    extent: int
    start: int
    count: int
    step: int

    @property
    def window(self) -> int:
        """Elements from the first to the last one taken, both counted."""
        return (self.count - 1) * self.step + 1


def split_at(places: list[int], axes: Axes, offset: int) -> Axes:
    """Coalesced axes (slowest first) split at those of ``places`` (largest first) that cut them evenly."""
    split: list[Axis] = []
    inner = 1
    for n, s in reversed(axes):
        for place in reversed(places):
            rows, rest = place // s, place % s
            if s < place < n * s and not rest and n % rows == 0 and offset % place + inner + (rows - 1) * s <= place:
                split.append((rows, s))
                inner += (rows - 1) * s
                n, s = n // rows, place
        split.append((n, s))
        inner += (n - 1) * s
    return tuple(reversed(split))


def levels(whole: int, axes: Axes, offset: int, places: list[int]) -> list[Level] | None:
    """Levels, slowest first, of a memory of ``whole`` elements, or None if the view crosses the bounds of some level.

    ``axes``: the view's, slowest first. ``places`` (largest first) are preferred to others, and kept where no axis
    needs a level that spans them; without any, levels are as large as they can be and the view crosses fewest bounds.
    """
    found: list[Level] = []
    top = whole
    for i, (n, s) in enumerate(axes):
        inner = span(axes[i + 1 :])
        ceiling = _ceiling(top, span(axes[i:]), offset, places)
        if ceiling is None:
            return None
        place = _place(s, ceiling, inner, offset, places)
        found += _selected(top, ceiling, offset, places)
        found.append(Level(place, ceiling // place, offset % ceiling // place, n, s // place))
        top = place
    return [*found, *_selected(top, 1, offset, places)]


def _ceiling(top: int, reach: int, offset: int, places: list[int]) -> int | None:
    """The smallest of ``places`` within ``top``, else ``top`` itself, whose block holds ``reach`` from ``offset``."""
    for place in (*reversed(places), top):
        if place <= top and top % place == 0 and offset % place + reach <= place:
            return place
    return None


def _place(stride: int, ceiling: int, inner: int, offset: int, places: list[int]) -> int:
    """The largest of ``places`` that suits the stride and leaves room for the faster axes, else the largest of all."""
    for place in places:
        if place < ceiling and stride % place == 0 and ceiling % place == 0 and offset % place + inner <= place:
            return place
    return gcd(stride, ceiling)


def _selected(top: int, bottom: int, offset: int, places: list[int]) -> Iterator[Level]:
    """Levels between two places, of which the view takes one element each."""
    cuts = [p for p in places if bottom < p < top and top % p == 0 and p % bottom == 0]
    for high, low in pairwise((top, *cuts, bottom)):
        if high != low:
            yield Level(low, high // low, offset % high // low, 1, 1)
