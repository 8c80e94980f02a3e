"""Keys of the trace tree. They are exact: what compares equal is the same call.

A key is a tuple ``(op id, item, ...)``. An item is a value's index, the Layout of a new input, a literal, a view
(``VIEW, index or Layout, size, stride, offset, mode, ...``) or a tuple of items. Literals that may vary from run to run
are marked (``FLOAT, x`` or ``INT, x``; a view's offset by its mode, DYNAMIC or WRAPS; None for an offset that cannot
vary); ``masked`` replaces each by its mark alone, which names a call up to such literals.
"""

from __future__ import annotations

import struct
from typing import Any, Final

__all__ = [
    "DYNAMIC", "FLOAT", "INT", "LIFTED_FLOAT", "LIFTED_INT", "VIEW", "WRAPS", "Mark", "literal_key", "masked",
    "scalar_key",
]  # fmt: skip


class Mark:
    """A named constant that equals nothing but itself."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return self.name


FLOAT: Final = Mark("FLOAT")
INT: Final = Mark("INT")
LIFTED_FLOAT: Final = Mark("LIFTED_FLOAT")
LIFTED_INT: Final = Mark("LIFTED_INT")
VIEW: Final = Mark("VIEW")
DYNAMIC: Final = Mark("DYNAMIC")
"""A view's offset is a run-time value, and the window lies within each dimension of the base."""
WRAPS: Final = Mark("WRAPS")
"""A view's offset is a run-time value, and the window runs over the edge of a dimension."""

# Worth a constant in the compiled program: most compilers drop or simplify these.
_SPECIAL = frozenset((0.0, 1.0, -1.0, 2.0, 0.5))


def literal_key(number: Any) -> Any:
    """An exact key of a number that is never lifted: by type and bits, so True, 1 and 1.0 differ, 0.0 and -0.0 differ,
    and NaN equals itself."""
    kind = type(number)
    if kind is float and (number == 0.0 or number != number):
        return (float, struct.pack("d", number))
    if kind is complex:
        return (complex, struct.pack("dd", number.real, number.imag))
    return (kind, number)


def scalar_key(number: Any) -> Any:
    """The key of a number that may be lifted. Floats are, unless special; integers once they were seen to vary."""
    kind = type(number)
    if kind is float:
        if number in _SPECIAL:
            return (FLOAT, number) if number else (FLOAT, struct.pack("d", number))
        return LIFTED_FLOAT
    return (INT, number) if kind is int else literal_key(number)


def masked(item: Any) -> Any:
    """The key with every liftable literal replaced by its mark."""
    if type(item) is not tuple or not item:
        return item
    head = item[0]
    if head is FLOAT:
        return LIFTED_FLOAT
    if head is INT:
        return LIFTED_INT
    if head is VIEW:
        mode = item[5]
        return item if mode is None else (*item[:4], mode, *item[5:])
    return tuple(map(masked, item))
