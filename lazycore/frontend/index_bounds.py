"""Are indices within their bounds? Asked of a trace's inputs before it runs, and of flags that computed ones left."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lazycore.runtime.buffers import DeviceValue

# Types only: the flags are watched from the start, and the compiler comes with the first trace that is compiled.
if TYPE_CHECKING:
    from lazycore.compiler.build import FlagCheck, InputCheck

__all__ = ["check_input", "raise_unless_within"]


def check_input(entry: InputCheck, value: DeviceValue) -> None:
    """Raise the check's error unless all indices in an input, but for the one it ignores, lie in its range."""
    check = entry.check
    bounds = value.int_range(check.ignore)
    if bounds is not None:
        raise_unless_within(entry, bounds)


def raise_unless_within(entry: InputCheck | FlagCheck, bounds: tuple[int, int]) -> None:
    """Raise the check's error unless all indices lie in its range."""
    check = entry.check
    if bounds[0] < check.low or bounds[1] >= check.high:
        index = bounds[0] if bounds[0] < check.low else bounds[1]
        raise check.error(check.message.replace("{index}", str(index)) + f" ({entry.where})")
