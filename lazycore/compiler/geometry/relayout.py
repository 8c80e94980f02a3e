"""From one dense layout of a block of memory to another: reshapes and at most two permutations, as few as will do.

Both layouts are axes in logical order. The memory is cut into *atoms* that both layouts list whole; if they list the
atoms in the same order a reshape is enough, else one permutation sorts them.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from math import prod

from lazycore.compiler.geometry.layout import Axes, memory_order
from lazycore.compiler.geometry.steps import Permute, Reshape, Step

__all__ = ["relayout"]

Indices = list[int]


def relayout(src: Axes, dst: Axes) -> tuple[Step, ...]:
    """Steps that turn the row-major tensor of ``src``'s shape into that of ``dst``'s, the memory meant being the same.

    Both must be dense over equally many elements.
    """
    if any(n == 0 for n, _ in src) or [a for a in src if a[0] != 1] == [a for a in dst if a[0] != 1]:
        return tuple(_reshape(_sizes(src), _sizes(dst)))
    cuts = _cuts(src, dst)
    have, want = _listing(src, range(len(src)), cuts), _listing(dst, range(len(dst)), cuts)
    if have is not None and have == want:
        return tuple(_reshape(_sizes(src), _sizes(dst)))
    steps = _permute_then_reshape(src, dst, cuts, want) or _reshape_then_permute(src, dst, cuts, have)
    if steps is None and have is not None and want is not None:
        steps = _through_atoms(src, dst, cuts, have, want)
    return tuple(_through_memory(src, dst) if steps is None else steps)


def _sizes(axes: Axes) -> tuple[int, ...]:
    return tuple(n for n, _ in axes)


def _reshape(before: tuple[int, ...], after: tuple[int, ...]) -> Iterator[Step]:
    if before != after:
        yield Reshape(before, after)


def _permute(dims: Indices) -> Iterator[Step]:
    if dims != sorted(dims):
        yield Permute(tuple(dims))


def _cuts(src: Axes, dst: Axes) -> list[int]:
    """Places, largest first, where memory is cut into atoms; the whole extent leads. Between two places that both
    layouts know, all of either's are taken if they divide one another, and none if they do not."""
    whole = prod(_sizes(src))
    ours, theirs = ({s for n, s in axes if n != 1} | {1, whole} for axes in (src, dst))
    if ours == theirs:
        return sorted(ours, reverse=True)
    cuts = ours & theirs
    for high, low in pairwise(sorted(cuts, reverse=True)):
        between = sorted((c for c in ours | theirs if low < c < high), reverse=True)
        if all(a % b == 0 for a, b in pairwise((high, *between, low))):
            cuts.update(between)
    return sorted(cuts, reverse=True)


def _atoms(size: int, stride: int, cuts: list[int]) -> Indices:
    """The atoms, each named by its place, that an axis covers whole or lies in."""
    covered = [c for c in cuts if stride <= c < size * stride]
    if not covered or covered[-1] != stride:
        covered.append(next(c for c in cuts if c <= stride))
    return covered


def _listing(axes: Axes, order: Indices | range, cuts: list[int]) -> Indices | None:
    """The atoms in the order in which the axes list them, or None if some atom is torn apart."""
    listed: Indices = []
    place = 0
    for n, s in (axes[i] for i in order):
        if n == 1:
            continue
        atoms = _atoms(n, s, cuts)
        if listed and listed[-1] == atoms[0] and place == n * s:
            listed.pop()
        listed += atoms
        place = s
    return listed if len(set(listed)) == len(listed) else None


def _sorted_by(listing: Indices, axes: Axes, cuts: list[int]) -> Indices:
    """Indices of the axes larger than 1, sorted as ``listing`` lists their atoms."""
    large = [i for i, (n, _) in enumerate(axes) if n != 1]
    return sorted(large, key=lambda i: (listing.index(_atoms(*axes[i], cuts)[0]), -axes[i][1]))


def _permute_then_reshape(src: Axes, dst: Axes, cuts: list[int], want: Indices | None) -> list[Step] | None:
    if want is None:
        return None
    large = _sorted_by(want, src, cuts)
    if _listing(src, large, cuts) != want:
        return None
    dims = _with_ones(src, dst, large)
    return [*_permute(dims), *_reshape(tuple(src[i][0] for i in dims), _sizes(dst))]


def _with_ones(src: Axes, dst: Axes, large: Indices) -> Indices:
    """``large`` with src's size-1 axes put where dst has its own if the two then agree, else at the end."""
    ones = [i for i, (n, _) in enumerate(src) if n == 1]
    if [src[i][0] for i in large] != [n for n, _ in dst if n != 1] or len(src) != len(dst):
        return large + ones
    rest, units = iter(large), iter(ones)
    return [next(units) if n == 1 else next(rest) for n, _ in dst]


def _reshape_then_permute(src: Axes, dst: Axes, cuts: list[int], have: Indices | None) -> list[Step] | None:
    if have is None:
        return None
    large = _sorted_by(have, dst, cuts)
    if _listing(dst, large, cuts) != have:
        return None
    order = large + [i for i, (n, _) in enumerate(dst) if n == 1]
    dims = [order.index(i) for i in range(len(dst))]
    return [*_reshape(_sizes(src), tuple(dst[i][0] for i in order)), *_permute(dims)]


def _through_atoms(src: Axes, dst: Axes, cuts: list[int], have: Indices, want: Indices) -> list[Step]:
    size = {low: high // low for high, low in pairwise(cuts)}
    before, after = (tuple(size[a] for a in listing) for listing in (have, want))
    dims = [have.index(a) for a in want]
    return [*_reshape(_sizes(src), before), *_permute(dims), *_reshape(after, _sizes(dst))]


def _through_memory(src: Axes, dst: Axes) -> list[Step]:
    """By way of memory order: always possible."""
    first, last = memory_order(src), memory_order(dst)
    before, after = tuple(src[i][0] for i in first), tuple(dst[i][0] for i in last)
    dims = [last.index(i) for i in range(len(dst))]
    return [*_permute(first), *_reshape(before, after), *_permute(dims)]
