"""Facts about a view of a base that do not depend on its offset, cached on the base's layout."""

from __future__ import annotations

from typing import Any

from lazycore.trace.layout import Layout

__all__ = ["ViewInfo", "view_info"]

# A layout is interned and may live long; views of it are few in steady programs and unbounded in shape-changing ones.
_KEPT = 1024


class ViewInfo:
    """``fixed``: the view spans the whole base, so that its offset can only be 0. ``fits(offset)``: the window lies
    within each dimension of the base, so that a dynamic slice reads it."""

    __slots__ = ("fixed", "recipe")

    def __init__(self, layout: Layout, size: tuple[int, ...], stride: tuple[int, ...]) -> None:
        from lazycore.compiler.geometry import offset_is_fixed, plan_dynamic

        self.fixed = offset_is_fixed(layout.size, size, stride)
        self.recipe: Any = None if self.fixed else plan_dynamic(layout.size, layout.stride, size, stride)

    def fits(self, offset: int) -> bool:
        return self.recipe is not None and self.recipe.fits(offset)


def view_info(layout: Layout, size: tuple[int, ...], stride: tuple[int, ...]) -> ViewInfo:
    """The ViewInfo of a view of ``layout``'s base, through the cache."""
    found = layout.views.get((size, stride))
    if found is None:
        if len(layout.views) >= _KEPT:
            layout.views.clear()
        found = layout.views[size, stride] = ViewInfo(layout, size, stride)
    return found
