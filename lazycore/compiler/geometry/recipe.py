"""What planning returns: the steps of a view, and for a moving one how the offset becomes starts."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from lazycore.compiler.geometry.gather import Gather
from lazycore.compiler.geometry.steps import Reshape, Step

__all__ = ["Digit", "DynamicRecipe", "Recipe", "chain"]


@dataclass(frozen=True, slots=True)
class Recipe:
    """Steps from the base's value to the view's, which has shape ``size``."""

    size: tuple[int, ...]
    steps: tuple[Step, ...]

    @property
    def cost(self) -> int:
        """A weight for comparing recipes of one view: about the number of nodes a read takes."""
        return sum(step.cost for step in self.steps)

    @property
    def is_identity(self) -> bool:
        """Whether the view is the base's value itself."""
        return not self.steps

    @property
    def gathers(self) -> bool:
        """Whether elements are addressed one by one."""
        return any(isinstance(step, Gather) for step in self.steps)


class Digit(NamedTuple):
    """One digit of the offset, ``offset // place % extent``, which may not exceed ``limit``."""

    place: int
    extent: int
    limit: int


@dataclass(frozen=True, slots=True)
class DynamicRecipe:
    """A recipe that serves every offset that ``fits``; its starts are computed from the offset at launch.

    ``places``: (divisor, modulus) of each start, ``offset // divisor % modulus``; empty if the offset can only be 0.
    """

    recipe: Recipe
    places: tuple[tuple[int, int], ...]
    digits: tuple[Digit, ...]

    def fits(self, offset: int) -> bool:
        """Whether the view at ``offset``, which is in bounds, lies within each level."""
        for place, extent, limit in self.digits:  # noqa: SIM110 - a loop costs half of what all() does
            if offset // place % extent > limit:
                return False
        return True

    def starts(self, offset: int) -> tuple[int, ...]:
        """The starts at ``offset``, one for each of ``places``."""
        return tuple(offset // divisor % modulus for divisor, modulus in self.places)


def chain(size: Iterable[int], steps: Iterable[Step]) -> Recipe:
    """A recipe of the steps, neighbouring reshapes joined and those that do nothing dropped."""
    joined: list[Step] = []
    for step in steps:
        last = joined[-1] if joined else None
        if isinstance(step, Reshape) and isinstance(last, Reshape):
            joined.pop()
            step = Reshape(last.before, step.after)
        if not (isinstance(step, Reshape) and step.before == step.after):
            joined.append(step)
    return Recipe(tuple(size), tuple(joined))
