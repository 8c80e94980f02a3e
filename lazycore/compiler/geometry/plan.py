"""Planning: the cheapest recipe for a view, at one offset or at offsets known only when a trace runs.

Sizes, strides and offsets count elements; strides are not negative. A base is dense: some permutation of contiguous.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import prod

from lazycore.compiler.geometry.gather import Gather, index_axes
from lazycore.compiler.geometry.layout import (
    Axes,
    coalesce,
    compact,
    dense_axes,
    memory_order,
    nests,
    offset_is_fixed,
    row_major,
    significant,
    span,
)
from lazycore.compiler.geometry.nesting import nested_windows, window_extent
from lazycore.compiler.geometry.recipe import Digit, DynamicRecipe, Recipe, chain
from lazycore.compiler.geometry.refine import Level, levels, split_at
from lazycore.compiler.geometry.relayout import relayout
from lazycore.compiler.geometry.steps import Box, Expand, Reshape, Step, Stride

__all__ = ["dynamic_plans", "plan_dynamic", "plan_gather", "plan_view"]

Ints = Sequence[int]


def plan_view(base_size: Ints, base_stride: Ints, size: Ints, stride: Ints, offset: int) -> Recipe:
    """The cheapest recipe for the view. Raises ValueError if the base is not dense or the view leaves it."""
    view = _View.of(base_size, base_stride, size, stride)
    if 0 in view.size:
        return _empty(view)
    view.check(offset)
    if view.coalesced in ((), ((view.whole, 1),)) and span(view.coalesced) == view.whole:
        return _recipe(view, view.base, compact(view.axes), ())
    if not nests(view.coalesced):
        return _gather(view, offset, moving=False)
    plans = _cheapest_first(_refined(view, found, offset) for found in _refinements(view, offset))
    plans = plans or list(_nested(view, offset))
    return plans[0] if plans else _gather(view, offset, moving=False)


def plan_dynamic(base_size: Ints, base_stride: Ints, size: Ints, stride: Ints) -> DynamicRecipe | None:
    """The cheapest recipe whose offset may vary, or None if only ``plan_gather`` serves. Raises as ``plan_view``."""
    return next(iter(dynamic_plans(base_size, base_stride, size, stride)), None)


def dynamic_plans(base_size: Ints, base_stride: Ints, size: Ints, stride: Ints) -> tuple[DynamicRecipe, ...]:
    """All recipes whose offset may vary, cheapest first; a later one may fit offsets that the first does not."""
    view = _View.of(base_size, base_stride, size, stride)
    if offset_is_fixed(base_size, size, stride):
        return (DynamicRecipe(plan_view(base_size, base_stride, size, stride, 0), (), ()),)
    view.check(0)
    if not nests(view.coalesced):
        return ()
    unique: dict[tuple[Digit, ...], DynamicRecipe] = {}
    for found in _refinements(view, 0):
        if (digits := _digits(found)) not in unique:
            places = tuple((level.place, level.extent) for level in found if level.window != level.extent)
            unique[digits] = DynamicRecipe(_refined(view, found, None), places, digits)
    for plan in _sliding(view):
        unique.setdefault(plan.digits, plan)
    return tuple(sorted(unique.values(), key=lambda plan: plan.recipe.cost))


def plan_gather(base_size: Ints, base_stride: Ints, size: Ints, stride: Ints) -> Recipe:
    """The recipe that serves any view at any offset, which is its only run-time start: a 0-d int64 value."""
    view = _View.of(base_size, base_stride, size, stride)
    if 0 in view.size:
        return _empty(view)
    view.check(0)
    return _gather(view, 0, moving=True)


@dataclass(frozen=True, slots=True)
class _View:
    """A view with what every plan asks of it: ``axes`` move through memory, ``coalesced`` are the same, merged."""

    base: Axes
    whole: int
    size: tuple[int, ...]
    axes: Axes
    coalesced: Axes
    expanded: tuple[bool, ...]

    @classmethod
    def of(cls, base_size: Ints, base_stride: Ints, size: Ints, stride: Ints) -> _View:
        if len(size) != len(stride) or any(s < 0 for s in stride):
            raise ValueError(f"a view of size {tuple(size)} cannot have the stride {tuple(stride)}")
        base, axes = dense_axes(base_size, base_stride), significant(size, stride)
        expanded = tuple(s == 0 and n != 1 for n, s in zip(size, stride, strict=True))
        return cls(base, prod(base_size), tuple(size), axes, coalesce(axes), expanded)

    def check(self, offset: int) -> None:
        """Raise ValueError unless the view, which is not empty, lies within the base."""
        if offset < 0 or offset + span(self.axes) > self.whole:
            raise ValueError(
                f"a view of size {self.size} at offset {offset} spans {span(self.axes)} elements "
                f"of a base that has {self.whole}"
            )

    def places(self) -> list[int]:
        """The base's own strides, largest first."""
        return sorted({s for n, s in self.base if n != 1}, reverse=True)


def _recipe(view: _View, block: Axes, axes: Axes, steps: Iterable[Step]) -> Recipe:
    """``steps``, which end in the dense ``block`` that holds the view's elements and no others, and what is left:
    bring the block into the view's logical order and repeat it along axes of stride 0.

    ``axes``: where in the block the view's own (``view.axes``) lie.
    """
    rest = iter(axes)
    kept = tuple((1, 1) if n == 1 or e else next(rest) for n, e in zip(view.size, view.expanded, strict=True))
    if not any(view.expanded):
        return chain(view.size, (*steps, *relayout(block, kept)))
    lead = next((i for i, (n, _) in enumerate(kept) if n != 1), len(kept))
    before = tuple(n for n, _ in kept[lead:])
    return chain(view.size, (*steps, *relayout(block, kept[lead:]), Expand(before, view.size)))


def _empty(view: _View) -> Recipe:
    """A view without elements: an empty slice, unless the base is empty already."""
    shape = tuple(n for n, _ in view.base)
    if view.whole == 0:
        return chain(view.size, (Reshape(shape, view.size),))
    extents = shape or (1,)
    counts = (0, *extents[1:])
    cut = Box(extents, (0,) * len(extents), counts)
    return chain(view.size, (Reshape(shape, extents), cut, Reshape(counts, view.size)))


def _refinements(view: _View, offset: int) -> Iterator[list[Level]]:
    """Levels along the base's own axes where the view follows them, then the coarsest ones.

    They come sorted as the base's logical axes are, so that a base which needs no reshape needs no permutation either.
    """
    for places in (view.places(), []):
        found = levels(view.whole, split_at(places, view.coalesced, offset), offset, places)
        if found is not None:
            yield _in_order_of(view.base, found)


def _refined(view: _View, found: list[Level], offset: int | None) -> Recipe:
    """The recipe of one window over levels, which moves where ``offset`` is None."""
    stage = tuple((level.extent, level.place) for level in found)
    block = compact(tuple((level.count, level.place) for level in found))
    cut = _moving_cut(found) if offset is None else _static_cut(found)
    return _recipe(view, block, compact(view.axes), (*relayout(view.base, stage), *cut))


def _cheapest_first(plans: Iterator[Recipe]) -> list[Recipe]:
    """Stops at a plan that no later one can beat: a cut and at most one other step."""
    made: list[Recipe] = []
    for plan in plans:
        made.append(plan)
        if plan.cost <= 2:
            break
    return sorted(made, key=lambda plan: plan.cost)


def _in_order_of(base: Axes, found: list[Level]) -> list[Level]:
    """Levels sorted as the base's logical axes are, by the axis in which each begins."""

    def begins(level: Level) -> tuple[int, int]:
        top = level.place * level.extent
        return next(i for i, (n, s) in enumerate(base) if n != 1 and s < top <= n * s), -level.place

    return sorted(found, key=begins)


def _static_cut(order: list[Level]) -> Iterator[Step]:
    extents = tuple(level.extent for level in order)
    counts = tuple(level.count if level.step == 1 else level.extent for level in order)
    if counts != extents:
        yield Box(extents, tuple(level.start if level.step == 1 else 0 for level in order), counts)
    for i, level in enumerate(order):
        if level.step != 1:
            yield Stride(i, level.start, level.count, level.step)


def _moving_cut(order: list[Level]) -> Iterator[Step]:
    moving = tuple(i for i, level in enumerate(order) if level.window != level.extent)
    yield Box(tuple(d.extent for d in order), (0,) * len(order), tuple(d.window for d in order), moving)
    for i, level in enumerate(order):
        if level.step != 1:
            yield Stride(i, 0, level.count, level.step)


def _digits(found: list[Level]) -> tuple[Digit, ...]:
    """What an offset must keep to, slowest digit first; neighbours that must both be 0 count as one."""
    digits: list[Digit] = []
    for level in sorted(found, key=lambda level: -level.place):
        digit = Digit(level.place, level.extent, level.extent - level.window)
        if digits and digits[-1].limit == digit.limit == 0:
            digit = Digit(level.place, digits.pop().extent * level.extent, 0)
        digits.append(digit)
    return tuple(digits)


def _flat(view: _View) -> tuple[Step, ...]:
    return relayout(view.base, ((view.whole, 1),))


def _nested(view: _View, offset: int) -> Iterator[Recipe]:
    steps = nested_windows(view.whole, view.coalesced, offset)
    if steps is not None:
        yield _recipe(view, compact(view.coalesced), compact(view.axes), (*_flat(view), *steps))


def _sliding(view: _View) -> Iterator[DynamicRecipe]:
    """One window that slides over the flat memory, and within it the steps of a view that stands still."""
    extent = window_extent(view.coalesced)
    steps = None if extent is None else nested_windows(extent, view.coalesced, 0)
    if extent is None or steps is None or extent >= view.whole:
        return
    slide = Box((view.whole,), (0,), (extent,), (0,))
    recipe = _recipe(view, compact(view.coalesced), compact(view.axes), (*_flat(view), slide, *steps))
    yield DynamicRecipe(recipe, ((1, view.whole),), (Digit(1, view.whole, view.whole - extent),))


def _gather(view: _View, offset: int, *, moving: bool) -> Recipe:
    """By flat index, of the base permuted into memory order; the index follows the view's logical order."""
    memory = tuple(view.base[i] for i in memory_order(view.base))
    axes = index_axes(view.axes)
    steps = (*relayout(view.base, memory), Gather(axes, offset, moving))
    return _recipe(view, row_major(axes), row_major(view.axes), steps)
